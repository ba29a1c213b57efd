import logging
import threading
import time

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("downloader")
URLS = [f"https://images.example/{i:07d}.jpg" for i in range(20_000)]
done = threading.Event()
fetched = []


def fetch(url):
    # A slow host: the answer comes when it comes.
    done.wait(120)
    fetched.append(url)


def main():
    log.info("downloading %d images", len(URLS))
    threads = []
    for number, url in enumerate(URLS):
        thread = threading.Thread(target=fetch, args=(url,), daemon=True)
        thread.start()
        threads.append(thread)
        time.sleep(0.002)
        if number % 250 == 0:
            log.info("requested %d, fetched %d", number, len(fetched))
    done.set()
    for thread in threads:
        thread.join()
    log.info("all done")


if __name__ == "__main__":
    main()
