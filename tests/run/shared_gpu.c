/* The device shared with a stranger: what $FAKE_GPU_DIR/stranger ("PID MIB") holds is missing from what is free.
   Writes what this process holds to $FAKE_GPU_DIR/job. Over a simulated libcudart.so.12. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *real(const char *name) {
    static void *h; if (!h) h = dlopen("libcudart.so.12", RTLD_LAZY | RTLD_NOLOAD);
    return h ? dlsym(h, name) : NULL;
}
static size_t stranger(void) {
    char path[4096]; long pid, mib = 0; FILE *f;
    snprintf(path, sizeof path, "%s/stranger", getenv("FAKE_GPU_DIR") ?: "/nonexistent");
    if (!(f = fopen(path, "r"))) return 0;
    if (fscanf(f, "%ld %ld", &pid, &mib) != 2) mib = 0;
    fclose(f); return (size_t)mib << 20;
}
/* A context's cost, which the simulated runtime alone leaves out. */
#define CONTEXT ((size_t)420 << 20)
static int info(size_t *free, size_t *total) {
    int (*f)(size_t *, size_t *) = real("cudaMemGetInfo"); int rc = f ? f(free, total) : 999;
    if (!rc) *free = *free > CONTEXT ? *free - CONTEXT : 0;
    return rc;
}
static void tell(void) {
    char path[4096], fresh[4096]; size_t free, total; FILE *f; const char *d = getenv("FAKE_GPU_DIR");
    if (!d || info(&free, &total)) return;
    snprintf(path, sizeof path, "%s/job", d); snprintf(fresh, sizeof fresh, "%s/job.%d", d, getpid());
    if (!(f = fopen(fresh, "w"))) return;
    fprintf(f, "%d %zu\n", getpid(), (total - free) >> 20); fclose(f); rename(fresh, path);
}
int cudaMemGetInfo(size_t *free, size_t *total) {
    int rc = info(free, total); size_t s = stranger();
    if (!rc) *free = *free > s ? *free - s : 0;
    return rc;
}
int cudaMalloc(void **p, size_t n) {
    size_t free = 0, total = 0; int (*f)(void **, size_t) = real("cudaMalloc");
    if (!f) return 999;
    if (!cudaMemGetInfo(&free, &total) && n > free) return 2;
    int rc = f(p, n); tell(); return rc;
}
int cudaFree(void *p) {
    int (*f)(void *) = real("cudaFree"); if (!f) return 999;
    int rc = f(p); tell(); return rc;
}
