/* fakegpu.c - a simulated CUDA device, enough for PyTorch's caching allocator.
 *
 * One shared object plays three libraries (the others are symlinks to the same
 * file, so that glibc, which compares inodes, loads it once and all of them
 * share the state below):
 *     libcudart.so.N      the CUDA runtime       (cudaMalloc, cudaMemGetInfo, ...)
 *     libcuda.so.1        the driver API         (cuMemCreate, cuMemMap, ...)
 *     libnvidia-ml.so.1   NVML                   (per-process memory in OOM texts)
 * No NVIDIA header or library is needed to build it.
 *
 * Memory model: capacity is a counter. A device address is a number handed out
 * by a bump pointer (2 MiB aligned, never reused) and is backed by nothing.
 *
 * Environment (sizes: bytes, or a number followed by K, M, G = KiB, MiB, GiB):
 *   FAKEGPU_TOTAL     capacity of each device                     [24G]
 *   FAKEGPU_CONTEXT   bytes this process's CUDA context takes     [0]
 *   FAKEGPU_OTHERS    other processes: "pid:bytes,pid:bytes"      [none]
 *   FAKEGPU_HIDDEN    bytes in use that NVML assigns to nobody    [0]
 *   FAKEGPU_SELF_PID  pid NVML reports for us; 0 = not listed     [getpid()]
 *   FAKEGPU_DEVICES   number of devices                           [1]
 *   FAKEGPU_CC        compute capability                          [8.0]
 *   FAKEGPU_NAME      device name                                 [FakeGPU]
 */
#define _GNU_SOURCE
#include "fakegpu.h"
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CUDART_VERSION /* what cudaRuntimeGetVersion answers: 12080, 13000, ... */
#define CUDART_VERSION 12080
#endif
#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, E_INVALID = 1, E_OOM = 2, E_NOT_READY = 600, MAX_DEV = FAKEGPU_MAX_DEV };
#define GRAN (2ull << 20) /* physical granularity of a real device */

typedef int rc_t; /* cudaError_t, CUresult and nvmlReturn_t are all ints */

/* ---------------------------------------------------------------- state -- */
static struct {
  uint64_t total, context, others, hidden;
  int ndev, major, minor;
  char name[256];
  fakegpu_observer cb;
  int events_pending;
  struct { uint64_t used, next_addr; } dev[MAX_DEV];
  void *allocs, *handles, *maps; /* tsearch trees */
} g;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static __thread int cur_dev;
static __thread rc_t last_error;

struct alloc { uint64_t addr, size, phys; int dev; };           /* by cudaMalloc */
struct handle { uint64_t key, size; int dev, refs, maps; };     /* by cuMemCreate */
struct map { uint64_t addr, size; struct handle *h; };          /* by cuMemMap */

/* All three structs begin with their key. */
static int by_key(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}
static void *find(void **tree, uint64_t key) {
  void *n = tfind(&key, tree, by_key);
  return n ? *(void **)n : NULL;
}

static uint64_t parse_size(const char *s) {
  char *end;
  double v = strtod(s, &end);
  switch (*end | 32) {
    case 'k': return (uint64_t)(v * 1024);
    case 'm': return (uint64_t)(v * 1048576);
    case 'g': return (uint64_t)(v * 1073741824);
    default: return strtoull(s, NULL, 10);
  }
}
static uint64_t env_size(const char *name, uint64_t dflt) {
  const char *s = getenv(name);
  return s && *s ? parse_size(s) : dflt;
}

__attribute__((constructor)) static void setup(void) {
  const char *s;
  g.total = env_size("FAKEGPU_TOTAL", 24ull << 30);
  g.context = env_size("FAKEGPU_CONTEXT", 0);
  g.hidden = env_size("FAKEGPU_HIDDEN", 0);
  g.ndev = (int)env_size("FAKEGPU_DEVICES", 1);
  if (g.ndev > MAX_DEV) g.ndev = MAX_DEV;
  g.major = 8, g.minor = 0;
  if ((s = getenv("FAKEGPU_CC"))) sscanf(s, "%d.%d", &g.major, &g.minor);
  snprintf(g.name, sizeof g.name, "%s", (s = getenv("FAKEGPU_NAME")) ? s : "FakeGPU");
  if ((s = getenv("FAKEGPU_OTHERS")))
    for (; (s = strchr(s, ':')); s++) g.others += parse_size(s + 1);
  for (int d = 0; d < MAX_DEV; d++) g.dev[d].next_addr = FAKEGPU_BASE + d * FAKEGPU_SPAN;
}

/* ------------------------------------------------ core (call with mu held) -- */

static uint64_t round_up(uint64_t n, uint64_t m) { return (n + m - 1) / m * m; }

static uint64_t free_bytes(int d) {
  uint64_t taken = g.context + g.others + g.hidden + g.dev[d].used;
  return taken < g.total ? g.total - taken : 0;
}
static uint64_t take_addr(int d, uint64_t size) {
  size = round_up(size, GRAN);
  uint64_t a = g.dev[d].next_addr;
  g.dev[d].next_addr += size;
  return a;
}
static rc_t note(const char *op, uint64_t addr, uint64_t size, rc_t rc) {
  if (g.cb) g.cb(op, addr, size, rc);
  return rc;
}
static rc_t runtime(rc_t rc) { /* runtime calls (not driver calls) leave their error behind */
  if (rc) last_error = rc;
  return rc;
}
static void drop_if_unused(struct handle *h) {
  if (h->refs || h->maps) return;
  g.dev[h->dev].used -= round_up(h->size, GRAN);
  tdelete(h, &g.handles, by_key);
  free(h);
}

/* ------------------------------------------------------------- control -- */
EXPORT void fakegpu_set_observer(fakegpu_observer cb) { g.cb = cb; }
EXPORT void fakegpu_set_events_pending(int p) { g.events_pending = p; }
EXPORT uint64_t fakegpu_used(int d) { return g.dev[d].used; }

/* ---------------------------------------------------- runtime: memory -- */
EXPORT rc_t cudaMalloc(void **out, size_t size) {
  pthread_mutex_lock(&mu);
  uint64_t phys = round_up(size, GRAN);
  rc_t rc = E_OOM;
  uint64_t addr = 0;
  if (phys <= free_bytes(cur_dev)) {
    struct alloc *a = malloc(sizeof *a);
    addr = take_addr(cur_dev, size);
    *a = (struct alloc){addr, size, phys, cur_dev};
    tsearch(a, &g.allocs, by_key);
    g.dev[cur_dev].used += phys;
    *out = (void *)addr;
    rc = OK;
  }
  note("malloc", addr, size, rc);
  pthread_mutex_unlock(&mu);
  return runtime(rc);
}
EXPORT rc_t cudaFree(void *p) {
  if (!p) return OK; /* also the usual way to create the context */
  pthread_mutex_lock(&mu);
  struct alloc *a = find(&g.allocs, (uint64_t)p);
  rc_t rc = a ? OK : E_INVALID;
  note("free", (uint64_t)p, a ? a->size : 0, rc);
  if (a) {
    g.dev[a->dev].used -= a->phys;
    tdelete(a, &g.allocs, by_key);
    free(a);
  }
  pthread_mutex_unlock(&mu);
  return runtime(rc);
}
EXPORT rc_t cudaMemGetInfo(size_t *free_out, size_t *total_out) {
  pthread_mutex_lock(&mu);
  *free_out = free_bytes(cur_dev);
  *total_out = g.total;
  pthread_mutex_unlock(&mu);
  return OK;
}
/* Stream-ordered allocation: modelled as a plain malloc (no pool caching). */
EXPORT rc_t cudaMallocAsync(void **p, size_t n, void *stream) { (void)stream; return cudaMalloc(p, n); }
EXPORT rc_t cudaFreeAsync(void *p, void *stream) { (void)stream; return cudaFree(p); }
EXPORT rc_t cudaDeviceGetDefaultMemPool(void **pool, int d) { *pool = (void *)(uint64_t)(0xb001 + d); return OK; }
EXPORT rc_t cudaMemPoolGetAttribute(void *pool, int attr, void *value) {
  *(uint64_t *)value = attr >= 5 ? g.dev[(uint64_t)pool - 0xb001].used : 0;
  return OK;
}
EXPORT rc_t cudaMemPoolSetAttribute(void *pool, int attr, void *value) { (void)pool, (void)attr, (void)value; return OK; }
EXPORT rc_t cudaMemPoolSetAccess(void *pool, const void *desc, size_t n) { (void)pool, (void)desc, (void)n; return OK; }
EXPORT rc_t cudaMemPoolTrimTo(void *pool, size_t keep) { (void)pool, (void)keep; return OK; }

/* Copies move nothing: there is no memory behind the addresses. */
static rc_t copy(void *dst, const void *src, size_t n) { (void)dst, (void)src, (void)n; return OK; }
EXPORT rc_t cudaMemcpy(void *d, const void *s, size_t n, int kind) { (void)kind; return copy(d, s, n); }
EXPORT rc_t cudaMemcpyAsync(void *d, const void *s, size_t n, int kind, void *st) { (void)kind, (void)st; return copy(d, s, n); }
EXPORT rc_t cudaMemcpyPeerAsync(void *d, int dd, const void *s, int sd, size_t n, void *st) {
  (void)dd, (void)sd, (void)st;
  return copy(d, s, n);
}

/* ---------------------------------------------------- runtime: device -- */
EXPORT rc_t cudaGetDeviceCount(int *n) { *n = g.ndev; return OK; }
EXPORT rc_t cudaGetDevice(int *d) { *d = cur_dev; return OK; }
EXPORT rc_t cudaSetDevice(int d) {
  if (d < 0 || d >= g.ndev) return runtime(101); /* cudaErrorInvalidDevice */
  cur_dev = d;
  return OK;
}
EXPORT rc_t cudaDriverGetVersion(int *v) { *v = CUDART_VERSION; return OK; }
EXPORT rc_t cudaRuntimeGetVersion(int *v) { *v = CUDART_VERSION; return OK; }
EXPORT rc_t cudaDeviceSynchronize(void) { return OK; }
EXPORT rc_t cudaDeviceCanAccessPeer(int *can, int a, int b) { (void)a, (void)b; *can = 0; return OK; }
EXPORT rc_t cudaDeviceEnablePeerAccess(int d, unsigned f) { (void)d, (void)f; return OK; }
EXPORT rc_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0, *greatest = -5; return OK; }

/* cudaDeviceProp by byte offset.
 * CUDA 11's struct is the beginning of CUDA 12's; CUDA 13 dropped a few fields. */
#if CUDART_VERSION >= 13000
#define OFF(v12, v13) v13
enum { PROP_SIZE = 1008 };
#else
#define OFF(v12, v13) v12
enum { PROP_SIZE = CUDART_VERSION >= 12000 ? 1032 : 728 };
#endif
static rc_t fill_properties(char *p, int d) {
  if (d < 0 || d >= g.ndev) return runtime(101);
  memset(p, 0, PROP_SIZE);
#define I(off, v) *(int *)(p + (off)) = (v)
#define Z(off, v) *(size_t *)(p + (off)) = (v)
  memcpy(p, g.name, sizeof g.name);
  p[256] = (char)(d + 1); /* uuid */
  Z(288, g.total);
  Z(296, 49152);  /* sharedMemPerBlock */
  I(304, 65536);  /* regsPerBlock */
  I(308, 32);     /* warpSize */
  Z(312, 2147483647);
  I(320, 1024);   /* maxThreadsPerBlock */
  I(324, 1024), I(328, 1024), I(332, 64);              /* maxThreadsDim */
  I(336, 2147483647), I(340, 65535), I(344, 65535);    /* maxGridSize */
  Z(352, 65536);
  I(360, g.major), I(364, g.minor);
  Z(368, 512);    /* textureAlignment */
  I(OFF(388, 384), 108); /* multiProcessorCount */
  I(OFF(400, 392), 1);   /* canMapHostMemory */
  I(OFF(576, 560), 1);   /* concurrentKernels */
  I(OFF(584, 568), d + 1), I(OFF(588, 572), 0), I(OFF(592, 576), 0); /* PCI bus, device, domain */
  I(OFF(600, 584), 3);   /* asyncEngineCount */
  I(OFF(604, 588), 1);   /* unifiedAddressing */
  I(OFF(612, 592), 5120);             /* memoryBusWidth */
  I(OFF(616, 596), 40 << 20);         /* l2CacheSize */
  I(OFF(624, 604), 2048);             /* maxThreadsPerMultiProcessor */
  I(OFF(628, 608), 1), I(OFF(632, 612), 1), I(OFF(636, 616), 1);
  Z(OFF(640, 624), 167936);           /* sharedMemPerMultiprocessor */
  I(OFF(648, 632), 65536);            /* regsPerMultiprocessor */
  I(OFF(652, 636), 1);                /* managedMemory */
  I(OFF(688, 668), 1);                /* cooperativeLaunch */
  Z(OFF(696, 672), 166912);           /* sharedMemPerBlockOptin */
  I(OFF(712, 688), 32);               /* maxBlocksPerMultiProcessor */
  Z(OFF(720, 696), 1024);             /* reservedSharedMemPerBlock */
  if (CUDART_VERSION >= 12000) I(OFF(744, 720), 1); /* memoryPoolsSupported */
#undef I
#undef Z
  return OK;
}
EXPORT rc_t cudaGetDeviceProperties(void *p, int d) { return fill_properties(p, d); }
EXPORT rc_t cudaGetDeviceProperties_v2(void *p, int d) { return fill_properties(p, d); } /* CUDA 12 name */

static const char *error_name(rc_t e) {
  switch (e) {
    case OK: return "cudaSuccess";
    case E_INVALID: return "cudaErrorInvalidValue";
    case E_OOM: return "cudaErrorMemoryAllocation";
    case 101: return "cudaErrorInvalidDevice";
    case E_NOT_READY: return "cudaErrorNotReady";
    default: return "cudaErrorUnknown";
  }
}
static const char *error_text(rc_t e) {
  switch (e) {
    case OK: return "no error";
    case E_INVALID: return "invalid argument";
    case E_OOM: return "out of memory";
    case 101: return "invalid device ordinal";
    case E_NOT_READY: return "device not ready";
    default: return "unknown error";
  }
}
EXPORT const char *cudaGetErrorName(rc_t e) { return error_name(e); }
EXPORT const char *cudaGetErrorString(rc_t e) { return error_text(e); }
EXPORT rc_t cudaGetLastError(void) { rc_t e = last_error; last_error = OK; return e; }
EXPORT rc_t cudaPeekAtLastError(void) { return last_error; }

/* ------------------------------------------- runtime: streams and events -- */
/* A stream is a small number; an event is a flag "was recorded while pending". */
static uint64_t next_stream = 0x51000;
EXPORT rc_t cudaStreamCreateWithPriority(void **s, unsigned flags, int prio) {
  (void)flags, (void)prio;
  *s = (void *)__atomic_add_fetch(&next_stream, 16, __ATOMIC_RELAXED);
  return OK;
}
EXPORT rc_t cudaStreamQuery(void *s) { (void)s; return OK; }
EXPORT rc_t cudaStreamSynchronize(void *s) { (void)s; return OK; }
EXPORT rc_t cudaStreamWaitEvent(void *s, void *e, unsigned f) { (void)s, (void)e, (void)f; return OK; }
EXPORT rc_t cudaStreamIsCapturing(void *s, int *status) { (void)s; *status = 0; return OK; }
EXPORT rc_t cudaStreamGetCaptureInfo(void *s, int *status, ...) { (void)s; *status = 0; return OK; }
EXPORT rc_t cudaStreamGetCaptureInfo_v2(void *s, int *status, ...) { (void)s; *status = 0; return OK; }
EXPORT rc_t cudaStreamUpdateCaptureDependencies(void) { return OK; }
EXPORT rc_t cudaThreadExchangeStreamCaptureMode(int *mode) { (void)mode; return OK; }
EXPORT rc_t cudaGraphNodeGetDependencies(void) { return OK; }
EXPORT rc_t cudaGraphNodeGetType(void) { return OK; }
EXPORT rc_t cudaGraphAddEmptyNode(void) { return OK; }
EXPORT rc_t cudaDeviceGetGraphMemAttribute(int d, int a, void *v) { (void)d, (void)a; *(uint64_t *)v = 0; return OK; }
EXPORT rc_t cudaDeviceSetGraphMemAttribute(int d, int a, void *v) { (void)d, (void)a, (void)v; return OK; }

EXPORT rc_t cudaEventCreateWithFlags(void **e, unsigned f) { (void)f; *e = calloc(1, sizeof(int)); return OK; }
EXPORT rc_t cudaEventDestroy(void *e) { free(e); return OK; }
EXPORT rc_t cudaEventRecord(void *e, void *s) { (void)s; *(int *)e = g.events_pending; return OK; }
EXPORT rc_t cudaEventQuery(void *e) { return *(int *)e && g.events_pending ? runtime(E_NOT_READY) : OK; }
EXPORT rc_t cudaEventSynchronize(void *e) { *(int *)e = 0; return OK; }
EXPORT rc_t cudaEventElapsedTime(float *ms, void *a, void *b) { (void)a, (void)b; *ms = 0.001f; return OK; }

EXPORT rc_t cudaIpcGetMemHandle(void *h, void *p) { (void)h, (void)p; return 801; } /* not supported */
EXPORT rc_t cudaIpcOpenMemHandle(void **p, ...) { (void)p; return 801; }
EXPORT rc_t cudaIpcCloseMemHandle(void *p) { (void)p; return OK; }

/* The caller wants a driver function: it is one of ours, or not there. */
static rc_t entry_point(const char *name, void **fn, int *status) {
  *fn = dlsym(RTLD_DEFAULT, name);
  if (!*fn) { /* not in the global scope when we were dlopen'ed RTLD_LOCAL */
    Dl_info me;
    void *self = dladdr((void *)entry_point, &me) ? dlopen(me.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (self) *fn = dlsym(self, name), dlclose(self);
  }
  if (status) *status = *fn ? 0 : 1; /* cudaDriverEntryPointSymbolNotFound */
  return *fn ? OK : 500;             /* cudaErrorSymbolNotFound */
}
EXPORT rc_t cudaGetDriverEntryPoint(const char *name, void **fn, uint64_t flags, int *status) {
  (void)flags;
  return entry_point(name, fn, status);
}
EXPORT rc_t cudaGetDriverEntryPointByVersion(const char *name, void **fn, unsigned ver, uint64_t flags, int *status) {
  (void)ver, (void)flags;
  return entry_point(name, fn, status);
}

/* ------------------------------------- driver API: expandable segments -- */
EXPORT rc_t cuInit(unsigned f) { (void)f; return OK; }
EXPORT rc_t cuDriverGetVersion(int *v) { *v = CUDART_VERSION; return OK; }
EXPORT rc_t cuDeviceGet(int *d, int n) { *d = n; return OK; }
EXPORT rc_t cuDeviceGetCount(int *n) { *n = g.ndev; return OK; }
EXPORT rc_t cuDeviceGetAttribute(int *v, int attr, int d) {
  (void)d;
  /* 102 VMM, 103 POSIX-FD handles: yes. Everything else (GPUDirect RDMA 110,
   * fabric handles 128, multicast 132, ...): no. */
  *v = attr == 102 || attr == 103;
  return OK;
}
EXPORT rc_t cuGetErrorString(rc_t e, const char **s) { *s = error_text(e); return OK; }
EXPORT rc_t cuMemGetAllocationGranularity(size_t *n, const void *prop, int opt) { (void)prop, (void)opt; *n = GRAN; return OK; }

EXPORT rc_t cuMemAddressReserve(uint64_t *addr, size_t size, size_t align, uint64_t hint, uint64_t f) {
  (void)align, (void)hint, (void)f;
  pthread_mutex_lock(&mu);
  *addr = take_addr(cur_dev, size);
  note("reserve", *addr, size, OK);
  pthread_mutex_unlock(&mu);
  return OK;
}
EXPORT rc_t cuMemAddressFree(uint64_t addr, size_t size) {
  pthread_mutex_lock(&mu);
  note("unreserve", addr, size, OK);
  pthread_mutex_unlock(&mu);
  return OK;
}
EXPORT rc_t cuMemCreate(uint64_t *out, size_t size, const int *prop, uint64_t f) {
  static uint64_t next_handle;
  (void)f;
  int d = prop[3]; /* CUmemAllocationProp: type, handleTypes, location{type, id} */
  pthread_mutex_lock(&mu);
  rc_t rc = size % GRAN ? E_INVALID : E_OOM;
  if (rc == E_OOM && size <= free_bytes(d)) {
    struct handle *h = malloc(sizeof *h);
    *h = (struct handle){++next_handle, size, d, 1, 0};
    tsearch(h, &g.handles, by_key);
    g.dev[d].used += size;
    *out = h->key;
    rc = OK;
  }
  note("create", 0, size, rc);
  pthread_mutex_unlock(&mu);
  return rc;
}
EXPORT rc_t cuMemRelease(uint64_t key) {
  pthread_mutex_lock(&mu);
  struct handle *h = find(&g.handles, key);
  rc_t rc = note("release", 0, h ? h->size : 0, h ? OK : E_INVALID);
  if (h) h->refs--, drop_if_unused(h);
  pthread_mutex_unlock(&mu);
  return rc;
}
EXPORT rc_t cuMemMap(uint64_t addr, size_t size, size_t off, uint64_t key, uint64_t f) {
  (void)off, (void)f;
  pthread_mutex_lock(&mu);
  struct handle *h = find(&g.handles, key);
  rc_t rc = note("map", addr, size, h && !find(&g.maps, addr) ? OK : E_INVALID);
  if (rc == OK) {
    struct map *m = malloc(sizeof *m);
    *m = (struct map){addr, size, h};
    tsearch(m, &g.maps, by_key);
    h->maps++;
  }
  pthread_mutex_unlock(&mu);
  return rc;
}
EXPORT rc_t cuMemUnmap(uint64_t addr, size_t size) {
  pthread_mutex_lock(&mu);
  struct map *m = find(&g.maps, addr);
  rc_t rc = note("unmap", addr, size, m && m->size == size ? OK : E_INVALID);
  if (rc == OK) {
    m->h->maps--, drop_if_unused(m->h);
    tdelete(m, &g.maps, by_key);
    free(m);
  }
  pthread_mutex_unlock(&mu);
  return rc;
}
EXPORT rc_t cuMemSetAccess(uint64_t a, size_t n, const void *desc, size_t cnt) { (void)a, (void)n, (void)desc, (void)cnt; return OK; }
EXPORT rc_t cuMemRetainAllocationHandle(uint64_t *key, void *addr) {
  pthread_mutex_lock(&mu);
  struct map *m = find(&g.maps, (uint64_t)addr);
  if (m) m->h->refs++, *key = m->h->key;
  pthread_mutex_unlock(&mu);
  return m ? OK : E_INVALID;
}
/* Looked up by DriverAPI's constructor, never called by the allocator here. */
#define UNSUPPORTED(name) EXPORT rc_t name(void) { return 801; }
UNSUPPORTED(cuMemExportToShareableHandle)
UNSUPPORTED(cuMemImportFromShareableHandle)
UNSUPPORTED(cuMemGetAllocationPropertiesFromHandle)
UNSUPPORTED(cuMemGetAddressRange)
UNSUPPORTED(cuMemGetAddressRange_v2)
UNSUPPORTED(cuMemsetD32Async)
UNSUPPORTED(cuStreamWriteValue32)
UNSUPPORTED(cuMulticastAddDevice)
UNSUPPORTED(cuMulticastBindMem)
UNSUPPORTED(cuMulticastCreate)
UNSUPPORTED(cuMulticastUnbind)
UNSUPPORTED(cuCtxFromGreenCtx)
EXPORT rc_t cuCtxGetCurrent(void **c) { *c = (void *)0xc0; return OK; }
UNSUPPORTED(cuCtxPopCurrent)
UNSUPPORTED(cuCtxPushCurrent)
EXPORT rc_t cuCtxSetCurrent(void *c) { (void)c; return OK; }
UNSUPPORTED(cuGreenCtxCreate)
UNSUPPORTED(cuGreenCtxDestroy)
UNSUPPORTED(cuGreenCtxStreamCreate)
UNSUPPORTED(cuDevSmResourceSplitByCount)
UNSUPPORTED(cuDeviceGetDevResource)
UNSUPPORTED(cuDevResourceGenerateDesc)
UNSUPPORTED(cuLogsRegisterCallback)
UNSUPPORTED(cuLogsUnregisterCallback)

/* ---------------------------------------------------------------- NVML -- */
EXPORT rc_t nvmlInit_v2(void) { return OK; }
EXPORT rc_t nvmlShutdown(void) { return OK; }
EXPORT const char *nvmlErrorString(rc_t e) { return e ? "nvml error" : "success"; }
EXPORT rc_t nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = CUDART_VERSION; return OK; }
EXPORT rc_t nvmlDeviceGetCount_v2(unsigned *n) { *n = (unsigned)g.ndev; return OK; }
/* The handle of device d is d+1; its PCI id is 0000:(d+1):00.0 as in fill_properties. */
EXPORT rc_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **h) {
  unsigned domain, bus;
  if (sscanf(id, "%x:%x", &domain, &bus) != 2) return 2;
  *h = (void *)(uint64_t)bus;
  return OK;
}
EXPORT rc_t nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { *h = (void *)(uint64_t)(i + 1); return OK; }
struct nvml_proc { unsigned pid; unsigned long long used; }; /* nvmlProcessInfo_v1_t */
EXPORT rc_t nvmlDeviceGetComputeRunningProcesses(void *h, unsigned *count, struct nvml_proc *out) {
  struct nvml_proc list[64];
  unsigned n = 0, room = *count;
  const char *s = getenv("FAKEGPU_OTHERS"), *self = getenv("FAKEGPU_SELF_PID");
  unsigned pid = self ? (unsigned)atoi(self) : (unsigned)getpid();
  if (pid) list[n++] = (struct nvml_proc){pid, g.context + g.dev[(uint64_t)h - 1].used};
  while (s && *s && n < 64) {
    list[n].pid = (unsigned)atoi(s);
    if (!(s = strchr(s, ':'))) break;
    list[n++].used = parse_size(++s);
    if ((s = strchr(s, ','))) s++;
  }
  *count = n;
  if (n > room) return 7; /* NVML_ERROR_INSUFFICIENT_SIZE */
  memcpy(out, list, n * sizeof *list);
  return OK;
}
#define NVML_UNSUPPORTED(name) EXPORT rc_t name(void) { return 3; }
NVML_UNSUPPORTED(nvmlDeviceGetNvLinkRemoteDeviceType)
NVML_UNSUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
/* Success with the caller's struct untouched (state 0) = no NVLink fabric. torch 2.13
 * treats a failure here as an error as soon as expandable_segments is on. */
EXPORT rc_t nvmlDeviceGetGpuFabricInfoV(void *h, void *info) { (void)h, (void)info; return OK; }
