import concurrent.futures
import logging
import mmap
import random
import time

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(processName)s %(message)s")
log = logging.getLogger("vocab")
CHUNK = 16 << 20
words, ngrams = {}, {}


def count_words(chunk):
    rng = random.Random(chunk)
    for _ in range(20_000):
        word = rng.randrange(5_000)
        words[word] = words.get(word, 0) + 1
    return len(words)


def count_ngrams(chunk):
    rng = random.Random(chunk)
    for _ in range(130_000):
        gram = f"{rng.getrandbits(32):08x} {rng.getrandbits(32):08x}"
        ngrams[gram] = ngrams.get(gram, 0) + 1
    return len(ngrams)


def main():
    word_pool = concurrent.futures.ProcessPoolExecutor(1)
    gram_pool = concurrent.futures.ProcessPoolExecutor(1)
    word_pool.submit(count_words, 0).result()
    gram_pool.submit(count_ngrams, 0).result()
    with open("data/corpus.bin", "rb") as file:
        corpus = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    view = np.frombuffer(corpus, np.uint8)
    total = len(view) // CHUNK
    for number in range(total):
        text = view[number * CHUNK:(number + 1) * CHUNK]
        checksum = int(text[::512].sum())
        found = word_pool.submit(count_words, number), gram_pool.submit(count_ngrams, number)
        if number % 4 == 0:
            log.info("chunk %d/%d checksum %d words %d ngrams %d", number, total, checksum,
                     found[0].result(), found[1].result())
        else:
            found[0].result(), found[1].result()
    log.info("vocabulary complete")


if __name__ == "__main__":
    main()
