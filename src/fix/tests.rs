//! What must hold for every fix on any incident, and what the ranking must do on plain ones.
