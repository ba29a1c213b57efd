"""Hugging Face Trainer: GPT-2 from its configuration, random tokens, checkpointing and gradient accumulation."""
import argparse
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class RandomTokens(Dataset):
    def __len__(self):
        return 10000

    def __getitem__(self, index):
        tokens = torch.randint(0, 50257, (512,))
        return {"input_ids": tokens, "labels": tokens}


parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--precision", choices=["fp16", "bf16", "fp32"], default="bf16")
parser.add_argument("--checkpointing", action="store_true")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--optim", default="adamw_torch_fused")
args = parser.parse_args()

trainer = Trainer(
    model=GPT2LMHeadModel(GPT2Config(n_layer=6)),
    args=TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=args.batch,
        gradient_accumulation_steps=args.accumulate,
        gradient_checkpointing=args.checkpointing,
        fp16=args.precision == "fp16",
        bf16=args.precision == "bf16",
        optim=args.optim,
        max_steps=1000,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=RandomTokens(),
)
trainer.train()
