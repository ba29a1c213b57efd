"""Hugging Face Trainer, configuration objects only."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments
#@imports

BATCH, SEQ, STEPS = $BATCH, $SEQ, $STEPS
device = torch.device("cuda")
#@memory


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        ids = torch.full((SEQ,), 5)
        return {"input_ids": ids, "labels": ids}


def build():
    config = LlamaConfig(vocab_size=32000, hidden_size=$WIDTH, intermediate_size=4 * $WIDTH, num_hidden_layers=$LAYERS,
                         num_attention_heads=16, num_key_value_heads=16, max_position_embeddings=8192)
    with torch.device(device):
        model = LlamaForCausalLM(config)
    print(f"LlamaForCausalLM: {model.num_parameters():,} parameters")
    return model


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if memory():
            print(f"[{state.global_step}]{memory()}")


class MyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        x = inputs["input_ids"]
        #@batch
        outputs = model(input_ids=x, labels=x)
        out, loss, step = outputs.logits, outputs.loss, self.state.global_step
        #@after_out
        self.latest = out.detach()
        return (loss, outputs) if return_outputs else loss

    def training_step(self, *args, **kwargs):
        loss = super().training_step(*args, **kwargs)
        model, optimizer, step, x, out = self.model, self.optimizer, self.state.global_step, sample(), self.latest
        #@after_step
        return loss


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, dtype=torch.long, device=device)


#@before_model
model = build()
#@after_model
arguments = TrainingArguments(output_dir="out", per_device_train_batch_size=BATCH, max_steps=STEPS, logging_steps=$EVERY,
                              report_to=[], save_strategy="no", bf16=True, dataloader_pin_memory=False)
trainer = MyTrainer(model=model, args=arguments, train_dataset=Texts(), callbacks=[Report()])
#@after_optimizer
trainer.train()
print("training finished")
