// harness.cpp - drive PyTorch's real CUDACachingAllocator from a trace file.
//
// Linked against libc10.so and libc10_cuda.so of one torch wheel, compiled with
// that wheel's headers (the structs below differ between versions), and run
// against the simulated device of fakegpu.c.
//
//   usage: harness [options] TRACE        (TRACE "-" is standard input)
//     --quiet          no per-op lines; only OOMs, notes and the final record
//     --no-stats       per-op lines without the "st" array (faster)
//     --stop-on-oom    stop at the first OOM (default: the failed id is skipped)
//     --bench          print nothing per op, report wall time and ops/s at the end
//     --fraction F     setMemoryFraction(F) before the first op
//     --streams N      streams created up front (ids 1..N; 0 is the default stream)
//     --device D       which device to use (with FAKEGPU_DEVICES > D)
//
// Trace lines ("#" starts a comment):
//   a ID BYTES [STREAM]   allocate                   f ID        free
//   r ID STREAM           record_stream              e           empty_cache
//   m FRACTION            set_per_process_memory_fraction
//   c SETTINGS            setAllocatorSettings       s           print a snapshot
//   p 0|1                 recorded events complete at once (0) or stay pending (1)
//   z                     reset peak stats
//   pb POOL / pe POOL / pr POOL   begin / end allocating to a private pool, release it
//                         (what torch.cuda.graph and torch.cuda.use_mem_pool do)
//
// Output: JSON lines. Addresses are relative to FAKEGPU_BASE.
//   {"i":3,"op":"a","id":7,"bytes":100,"addr":0,"ev":[["malloc",0,2097152,0]],"st":[A,R,V,I,Q]}
//   st = allocated, reserved, active, inactive_split, requested bytes now.
#ifndef TORCH // release as major * 100 + minor, set by build.sh
#define TORCH 215
#endif
#include <c10/cuda/CUDACachingAllocator.h>
#if __has_include(<c10/cuda/CUDAAllocatorConfig.h>)
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#include <c10/cuda/CUDAFunctions.h>
#if TORCH >= 211
#include <c10/cuda/PeerToPeerAccess.h>
#endif
#include <c10/cuda/CUDAStream.h>
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "fakegpu.h"

// libtorch_cuda.so normally installs this hook; without it stream calls throw.
namespace c10::cuda::_internal {
C10_CUDA_API void setHasPrimaryContext(bool (*func)(c10::DeviceIndex));
}

namespace alloc = c10::cuda::CUDACachingAllocator;
using ll = long long;

struct Event { const char* op; uint64_t addr, size; int rc; };
static std::vector<Event> events;
static void on_event(const char* op, uint64_t addr, uint64_t size, int rc) {
  events.push_back({op, addr, size, rc});
}

static int dev = 0;
static ll rel(uint64_t addr) { return addr ? (ll)(addr - FAKEGPU_BASE - dev * FAKEGPU_SPAN) : -1; }

static std::string quote(const std::string& s) {
  std::string o = "\"";
  for (unsigned char c : s) {
    char buf[8];
    if (c == '"' || c == '\\') o += '\\', o += (char)c;
    else if (c == '\n') o += "\\n";
    else if (c < 0x20) snprintf(buf, sizeof buf, "\\u%04x", c), o += buf;
    else o += (char)c;
  }
  return o + "\"";
}

static void print_events() {
  printf(",\"ev\":[");
  for (size_t i = 0; i < events.size(); i++)
    printf("%s[\"%s\",%lld,%llu,%d]", i ? "," : "", events[i].op, rel(events[i].addr),
           (unsigned long long)events[i].size, events[i].rc);
  printf("]");
  events.clear();
}

static void print_stats() {
  auto s = alloc::getDeviceStats(dev);
  printf(",\"st\":[%lld,%lld,%lld,%lld,%lld]", (ll)s.allocated_bytes[0].current,
         (ll)s.reserved_bytes[0].current, (ll)s.active_bytes[0].current,
         (ll)s.inactive_split_bytes[0].current, (ll)s.requested_bytes[0].current);
}

#if TORCH >= 201
#define EXPANDABLE(seg) (int)(seg).is_expandable
#else
#define EXPANDABLE(seg) 0
#endif
static std::unordered_map<uint64_t, int> stream_number; // cudaStream_t -> trace id

static void print_snapshot() {
  alloc::SnapshotInfo snap;
  try {
    snap = alloc::snapshot();
  } catch (const c10::Error&) { // backend:cudaMallocAsync cannot make one
    printf("\"segments\":null");
    return;
  }
  printf("\"segments\":[");
  bool first = true;
  for (auto& seg : snap.segments) {
    printf("%s{\"addr\":%lld,\"size\":%lld,\"stream\":%d,\"large\":%d,\"expandable\":%d,"
           "\"allocated\":%lld,\"active\":%lld,\"requested\":%lld,\"blocks\":[",
           first ? "" : ",", rel((uint64_t)seg.address), (ll)seg.total_size,
           stream_number[(uint64_t)seg.stream], (int)seg.is_large, EXPANDABLE(seg),
           (ll)seg.allocated_size, (ll)seg.active_size, (ll)seg.requested_size);
    for (size_t i = 0; i < seg.blocks.size(); i++) { // [size, requested, state]
      auto& b = seg.blocks[i];
      printf("%s[%lld,%lld,\"%s\"]", i ? "," : "", (ll)b.size, (ll)b.requested_size,
             b.allocated ? "allocated" : b.active ? "pending_free" : "free");
    }
    printf("]}");
    first = false;
  }
  printf("]");
}

static void print_final_stats() {
  auto s = alloc::getDeviceStats(dev);
  auto arr = [](const char* name, auto& a) {
    printf("\"%s\":{\"all\":[%lld,%lld],\"small\":[%lld,%lld],\"large\":[%lld,%lld]},", name,
           (ll)a[0].current, (ll)a[0].peak, (ll)a[1].current, (ll)a[1].peak, (ll)a[2].current,
           (ll)a[2].peak);
  };
  printf("\"stats\":{"); // each pair is [current, peak]
  arr("allocated_bytes", s.allocated_bytes);
  arr("reserved_bytes", s.reserved_bytes);
  arr("active_bytes", s.active_bytes);
  arr("inactive_split_bytes", s.inactive_split_bytes);
  arr("requested_bytes", s.requested_bytes);
  arr("allocation", s.allocation);
  arr("segment", s.segment);
  arr("active", s.active);
  arr("inactive_split", s.inactive_split);
  printf("\"num_alloc_retries\":%lld,\"num_ooms\":%lld}", (ll)s.num_alloc_retries, (ll)s.num_ooms);
}

static void set_fraction(double f) {
  alloc::setMemoryFraction(f, dev);
}

static void pool_op(char what, unsigned long long pool) {
  std::pair<unsigned long long, unsigned long long> id{0, pool}; // MempoolId_t
#if TORCH < 201
  throw std::runtime_error("private pools: not for torch < 2.1");
#elif TORCH >= 203
  if (what == 'b') alloc::beginAllocateToPool(dev, id, [](cudaStream_t) { return true; });
  else if (what == 'e') alloc::endAllocateToPool(dev, id);
  else alloc::releasePool(dev, id);
#else
  static std::vector<cudaStream_t> begun;
  auto stream = c10::cuda::getCurrentCUDAStream(dev).stream();
  if (what == 'b') alloc::beginAllocateStreamToPool(dev, stream, id), begun.push_back(stream);
  else if (what == 'e') alloc::endAllocateStreamToPool(dev, begun.back()), begun.pop_back();
  else alloc::releasePool(dev, id);
#endif
}

static void set_settings(const std::string& text) {
  alloc::setAllocatorSettings(text);
}

int main(int argc, char** argv) {
  bool quiet = false, stats = true, stop = false, bench = false;
  double fraction = -1;
  int nstreams = 4;
  const char* path = nullptr;
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    if (a == "--quiet") quiet = true;
    else if (a == "--no-stats") stats = false;
    else if (a == "--stop-on-oom") stop = true;
    else if (a == "--bench") bench = quiet = true;
    else if (a == "--fraction") fraction = atof(argv[++i]);
    else if (a == "--streams") nstreams = atoi(argv[++i]);
    else if (a == "--device") dev = atoi(argv[++i]);
    else path = argv[i];
  }
  FILE* in = path && strcmp(path, "-") ? fopen(path, "r") : stdin;
  if (!in) { perror(path); return 2; }
  static char outbuf[1 << 20];
  setvbuf(stdout, outbuf, _IOFBF, sizeof outbuf);

  // Resolved at run time: the harness then needs no import from the fake library.
  auto set_observer = (decltype(&fakegpu_set_observer))dlsym(RTLD_DEFAULT, "fakegpu_set_observer");
  auto set_pending =
      (decltype(&fakegpu_set_events_pending))dlsym(RTLD_DEFAULT, "fakegpu_set_events_pending");
  if (!set_observer) { fprintf(stderr, "not running on fakegpu: refusing\n"); return 2; }
  if (!bench) set_observer(on_event);

  int status = 0;
  try {
#if TORCH >= 201
    c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
#endif
#if TORCH >= 211 // done by torch.cuda's lazy init; expandable segments need it from 2.13 on
    c10::cuda::detail::init_p2p_access_cache(c10::cuda::device_count());
#endif
    alloc::init(c10::cuda::device_count());
    c10::cuda::set_device(dev);
    std::vector<c10::cuda::CUDAStream> streams{c10::cuda::getDefaultCUDAStream(dev)};
    stream_number[0] = 0;
    for (int i = 1; i <= nstreams; i++) {
      streams.push_back(c10::cuda::getStreamFromPool(false, dev));
      stream_number[(uint64_t)streams.back().stream()] = i;
    }
    if (fraction >= 0) set_fraction(fraction);

    std::unordered_map<ll, c10::DataPtr> live;
    int current_stream = 0;
    auto* a = alloc::get();
    char line[4096];
    ll n = 0;
    auto t0 = std::chrono::steady_clock::now();
    while (fgets(line, sizeof line, in)) {
      char op = line[0];
      if (op == '#' || op == '\n' || op == '\0') continue;
      char* p = line + 1;
      ll i = n++, id = -1, bytes = -1;
      int st = 0;
      const char* addr_key = nullptr;
      ll addr = 0;
      std::string oom, err;
      try {
        switch (op) {
          case 'a':
            id = strtoll(p, &p, 10), bytes = strtoll(p, &p, 10), st = (int)strtol(p, &p, 10);
            if (st != current_stream)
              c10::cuda::setCurrentCUDAStream(streams.at(st)), current_stream = st;
            {
              c10::DataPtr d = a->allocate((size_t)bytes);
              addr = rel((uint64_t)d.get()), addr_key = "addr";
              live[id] = std::move(d);
            }
            break;
          case 'f':
            id = strtoll(p, &p, 10);
            live.erase(id); // an id whose allocation failed is simply absent
            break;
          case 'r':
            id = strtoll(p, &p, 10), st = (int)strtol(p, &p, 10);
            if (live.count(id)) a->recordStream(live[id], streams.at(st));
            break;
          case 'e': alloc::emptyCache(); break;
          case 'm': set_fraction(strtod(p, &p)); break;
          case 'c': p[strcspn(p, "\n")] = 0; set_settings(p + 1); break;
          case 'p':
            if (*p == 'b' || *p == 'e' || *p == 'r') pool_op(*p, strtoull(p + 1, nullptr, 10));
            else set_pending((int)strtol(p, &p, 10));
            break;
          case 'z': alloc::resetPeakStats(dev); break;
          case 's': printf("{\"i\":%lld,\"op\":\"s\",", i); print_snapshot(); printf("}\n"); continue;
          default: throw std::runtime_error(std::string("bad trace line: ") + line);
        }
      } catch (const c10::OutOfMemoryError& e) {
        oom = e.msg(); // Python shows it only up to the first NUL, if there is one
      } catch (const c10::Error& e) {
        err = e.msg();
      }
      if (!quiet || !oom.empty() || !err.empty()) {
        printf("{\"i\":%lld,\"op\":\"%c\"", i, op);
        if (id >= 0) printf(",\"id\":%lld", id);
        if (bytes >= 0) printf(",\"bytes\":%lld,\"stream\":%d", bytes, st);
        if (addr_key) printf(",\"addr\":%lld", addr);
        if (!oom.empty()) printf(",\"oom\":%s", quote(oom).c_str());
        if (!err.empty()) printf(",\"error\":%s", quote(err).c_str());
        if (!bench) print_events();
        if (stats) print_stats();
        printf("}\n");
      }
      events.clear();
      if (!oom.empty()) { status = 3; if (stop) break; }
    }
    double dt = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    printf("{\"final\":true,\"ops\":%lld,", n);
    if (bench) printf("\"seconds\":%.3f,\"ops_per_s\":%.0f,", dt, n / dt);
    print_final_stats();
    printf(",");
    print_snapshot();
    printf("}\n");
    fflush(stdout);
    set_observer(nullptr);
  } catch (const std::exception& e) {
    fflush(stdout);
    fprintf(stderr, "harness: %s\n", e.what());
    _exit(2);
  }
  _exit(status); // 0 all served, 3 at least one OOM; skips destructors on purpose
}
