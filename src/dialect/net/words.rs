//! The words in which programs say that memory ran out, in nine languages and in the names of their interfaces' errors.

use super::clause;
use crate::domain::Resource;

/// Words of failure in any sentence, in small letters.
pub(super) const FAILURES: &[&str] = &[
    "error",
    "exception",
    "fatal",
    "fail",
    "abort",
    "panic",
    "terminat",
    "unable",
    "cannot",
    "can't",
    "can not",
    "could not",
    "couldn't",
    "crash",
    "insufficient",
    "not enough",
    "exceed",
    "oom",
];

/// How a line speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    /// Where the words stand in the line.
    pub at: usize,
    pub end: usize,
    /// An error's own name: no sentence needs to say that something failed.
    pub named: bool,
    /// What ran out, where the words themselves tell.
    pub resource: Option<Resource>,
}

/// Literals that lead to a line: words of it, five bytes and more.
pub const TRIGGERS: &[&str] = &[
    "(?i)out-of-memory",
    "(?i)OutOfMemory",
    "(?i)OutOfDeviceMemory",
    "(?i)OutOfHostMemory",
    "(?i)OUT_OF_",
    "(?i)OutOfResources",
    "(?i)ran out of",
    "(?i)run out of",
    "(?i)running out of",
    "(?i)runs out of",
    "(?i)out of ",
    "(?i)oom during",
    "(?i)reason: oom",
    "(?i)by an oom killer",
    "(?i)reason: 'oom'",
    "(?i)memory threshold reached",
    "(?i)have enough",
    "(?i)FAILED_TO_ALLOC",
    "(?i)error in memory alloc",
    "(?i)memory alloc request",
    "(?i)when allocating memory",
    "(?i)space for /dev/shm/",
    "(?i)alloc buffer",
    "(?i)alloc mem",
    "(?i)buffer alloc",
    "(?i)failed to alloc",
    "(?i)failed attempt to alloc",
    "(?i)cannot request mem",
    "(?i)unable to setup memory (12",
    "(?i)memory allocation problem",
    "(?i)failed to reserve",
    "(?i)failed to map",
    "(?i)failed to create buffer",
    "(?i)unable to alloc",
    "(?i)cannot alloc",
    "(?i)can't alloc",
    "(?i)can not alloc",
    "(?i)could not alloc",
    "(?i)couldn't alloc",
    "(?i)error allocating",
    "(?i)allocation fail",
    "(?i)allocation of",
    "(?i)allocation error",
    "(?i)llocFailed",
    "(?i)llocationFailed",
    "(?i)llocationError",
    "(?i)ALLOC_FAILED",
    "(?i)ALLOCATION_FAIL",
    "(?i)MemoryAllocation",
    "(?i)malloc failed",
    "(?i)malloc() failed",
    "(?i)malloc() returned",
    "(?i)mmap failed",
    "(?i)VirtualAlloc commit",
    "(?i)VirtualAlloc reserve",
    "(?i)VirtualAllocEx failed",
    "(?i)memalign failed",
    "(?i)Hunk_Alloc: failed",
    "(?i)not enough",
    "(?i)not provide enough",
    "(?i)than gpu memory",
    "(?i)than the gpu",
    "(?i)than device memory",
    "(?i)than available",
    "(?i)than the available",
    "(?i)than physical",
    "(?i)insufficient",
    "of SECURED memory",
    "too many memory regions",
    "blas_thread_init: pthread_create",
    "fftw: alloc.c:",
    "Byte capacity allocated",
    "(https://ipxe.org/31",
    "(?i)no memory",
    "(?i)exhausted",
    "(?i)allotted memory",
    "(?i)heap size reached",
    "proc_heap_too_large",
    "(?i)not memory map ",
    "(?i)to memory map ",
    "(?i)words short",
    "(?i)exceeds",
    "(?i)exceeded",
    "(?i)too large",
    "(?i)larger than",
    "(?i)bigger than",
    "(?i)does not fit",
    "(?i)doesn't fit",
    "(?i)cannot fit",
    "(?i)bad_alloc",
    "(?i)bad alloc",
    "(?i)assign mem",
    "(?i)ALLOCATION_ERR",
    "(?i)status_memory_err",
    "(?i)shm connection",
    "(?i)mb limit",
    "(?i)gb limit",
    "/VMerror",
    "(?i)bad_array_new",
    "(?i)MemoryError",
    "(?i)ENOMEM",
    "(?i)E_OUTOFMEMORY",
    "(?i)0x8007000E",
    "HRESULT=8007000e",
    "(?i)0xC0000017",
    "(?i)0xC000012D",
    "(?i) OOM ",
    "(?i) OOM:",
    "(?i)(OOM)",
    "(?i)[OOM]",
    "(?i)OOMError",
    "(?i)CUDA OOM",
    "(?i)GPU OOM",
    "(?i)OOM error",
    "(?i)OOMed",
    "(?i)failed allocat",
    "(?i)failure allocat",
    "(?i)failure to alloc",
    "(?i)fails to alloc",
    "(?i)fail to alloc",
    "(?i)fails alloc",
    "(?i)failing to alloc",
    "(?i)fail to reserve",
    "(?i)fail to malloc",
    "(?i)refuse",
    "(?i)rejected",
    "(?i)denied",
    "(?i)too much memory",
    "(?i)too little memory",
    "(?i)memory is too small",
    "(?i)won't fit",
    "(?i)will not fit",
    "(?i)not fit in",
    "(?i)to fit in",
    "(?i)could not fit",
    "(?i)NoMemoryError",
    "(?i)Heap exhausted",
    "(?i)STORAGE_ERROR",
    "(?i)_NOMEM",
    "(?i)NO_MEM",
    "(?i)NOT_ENOUGH_MEM",
    "(?i)NOT_ENOUGH_FREE_MEM",
    "StatusType.MEMOUT",
    "(?i)room for kv cache",
    "(?i)errno 12",
    "(?i)errno=12",
    "(?i)errno: 12",
    "(?i)os error 12",
    "(?i)over limit",
    "(?i)over its",
    "(?i)over the",
    "(?i)above the",
    "(?i)above its",
    "(?i) wanted",
    "(?i)not able to alloc",
    "(?i)trouble alloc",
    "(?i)problem alloc",
    "(?i)problems alloc",
    "(?i)while allocating",
    "(?i)allocate fail",
    "(?i)alloc failed",
    "(?i)alloc_chunk failed",
    "(?i)alloc_chunk() failed",
    "(?i)alloc_chunks failed",
    "(?i)alloc_chunks() failed",
    "(?i)alloc_coherent failed",
    "(?i)alloc_coherent() failed",
    "(?i)alloc_page failed",
    "(?i)alloc_page() failed",
    "(?i)alloc_pages failed",
    "(?i)alloc_pages() failed",
    "(?i)alloc_buf failed",
    "(?i)alloc_buf() failed",
    "(?i)alloc_buffer failed",
    "(?i)alloc_buffer() failed",
    "(?i)alloc_buffers failed",
    "(?i)alloc_buffers() failed",
    "(?i)alloc_context failed",
    "(?i)alloc_context() failed",
    "(?i)alloc_skb failed",
    "(?i)alloc_skb() failed",
    "(?i)alloc_mem failed",
    "(?i)alloc_mem() failed",
    "(?i)alloc_memory failed",
    "(?i)alloc_memory() failed",
    "(?i)alloc_block failed",
    "(?i)alloc_block() failed",
    "(?i)alloc_frame failed",
    "(?i)alloc_frame() failed",
    "(?i)alloc_array failed",
    "(?i)alloc_array() failed",
    "(?i)alloc_pool failed",
    "(?i)alloc_pool() failed",
    "(?i)alloc_ctx failed",
    "(?i)alloc_ctx() failed",
    "(?i)alloc_object failed",
    "(?i)alloc_object() failed",
    "(?i)alloc_node failed",
    "(?i)alloc_node() failed",
    "(?i)alloc_table failed",
    "(?i)alloc_table() failed",
    "(?i)alloc_image failed",
    "(?i)alloc_image() failed",
    "(?i)alloc_region failed",
    "(?i)alloc_region() failed",
    "(?i)alloc_segment failed",
    "(?i)alloc_segment() failed",
    "(?i)alloc_string failed",
    "(?i)alloc_string() failed",
    "(?i)error 2",
    "(?i)error: 2",
    "(?i)error code 2",
    "(?i)failure 2",
    "(?i)error=2",
    "(?i)virtual alloc",
    "(?i)room for LISP objects",
    "(?i)allocation fault",
    "(?i)stack overflow (size",
    "(?i)shrink memory footprint",
    "(?i)alloc() failed",
    "(?i)alloc fail",
    "(?i)alloc error",
    "(?i)alloc() error",
    "(?i)returned NULL",
    "(?i)malloc",
    "(?i)calloc(",
    "(?i)realloc",
    "(?i)mmap(",
    "(?i)failed to malloc",
    "(?i)failed to calloc",
    "(?i)failed to realloc",
    "(?i)bogus memory alloc",
    "(?i)memory circuit breaker",
    "(?i)allocation-size-too-big",
    "(?i)exceeds maximum supported size",
    "(?i)reallocation would exceed",
    "(?i)with memory allowed",
    "(?i)resource limit exceeded",
    "(?i)MEM_COMMIT failed",
    "(?i)ram but only",
    "(?i)Cuda error: 2",
    "(?i)failed to get",
    "(?i)could not get",
    "(?i)cannot get",
    "(?i)unable to get",
    "(?i)could not reserve",
    "(?i)unable to reserve",
    "(?i)cannot reserve",
    "(?i)unable to obtain",
    "(?i)could not obtain",
    "(?i)failed to obtain",
    "(?i)could not acquire",
    "(?i)failed to acquire",
    "(?i)unable to acquire",
    "(?i)cannot create",
    "(?i)could not create",
    "(?i)unable to create",
    "(?i)failed to commit",
    "(?i)failed to grow",
    "(?i)cannot grow",
    "(?i)unable to grow",
    "(?i)cannot expand",
    "(?i)unable to expand",
    "(?i)failed to extend",
    "(?i)could not commit",
    "(?i)cannot commit",
    "(?i)unable to commit",
    "(?i)could not grow",
    "(?i)could not expand",
    "(?i)could not extend",
    "(?i)could not resize",
    "(?i)unable to resize",
    "(?i)cannot resize",
    "(?i)failed to expand",
    "(?i)failed to enlarge",
    "(?i)could not enlarge",
    "(?i)unable to enlarge",
    "(?i)cannot enlarge",
    "(?i)cannot hold",
    "(?i)could not hold",
    "(?i)cannot provide",
    "(?i)unable to provide",
    "(?i)could not provide",
    "(?i)failed to provide",
    "(?i)not sufficient",
    "(?i)cannot extend",
    "(?i)unable to extend",
    "(?i)failed to resize",
    "(?i)unable to map",
    "(?i)unable to mmap",
    "(?i)cannot mmap",
    "(?i)failed to mmap",
    "(?i)could not mmap",
    "(?i)memory error",
    "(?i). only ",
    "(?i)below the",
    "(?i)cannot map",
    "(?i)could not map",
    "(?i)lack of memory",
    "(?i)no enough mem",
    "(?i)memory shortage",
    "(?i)shortage of memory",
    "(?i)memory limit",
    "(?i)memory is full",
    "(?i)memory full",
    "(?i)memory overflow",
    "(?i)is overflow",
    "(?i)has overflowed",
    "(?i)thrashing",
    "(?i)can't create",
    "(?i)couldn't create",
    "(?i)failed to create",
    "(?i)high memory",
    "(?i)to obtain",
    "(?i)to acquire",
    "(?i)to secure ",
    "(?i)to claim",
    "(?i)to satisfy",
    "(?i)to reserve",
    "(?i)to commit",
    "(?i)to provide",
    "(?i)to grow",
    "(?i)to extend",
    "(?i)to expand",
    "(?i)to enlarge",
    "(?i)to resize",
    "(?i)to pin ",
    "(?i)impossible to",
    "(?i)request for mem",
    "(?i) alloc ",
    "(?i)more than the",
    "(?i)greater than the",
    "(?i)higher than the",
    "(?i)attempted to",
    "(?i)able to get",
    "(?i)able to map",
    "(?i)failure to get",
    "(?i)failure to map",
    "(?i)not secure ",
    "(?i)not claim",
    "(?i)not satisfy",
    "(?i)n't acquire",
    "(?i)n't commit",
    "(?i)n't claim",
    "(?i)n't secure ",
    "(?i)n't satisfy",
    "(?i)can't reserve",
    "(?i)can't obtain",
    "(?i)can't map",
    "(?i)not obtain",
    "(?i)not acquire",
    "(?i)not commit",
    "(?i)cannot claim",
    "(?i)cannot obtain",
    "(?i)cannot acquire",
    "(?i)cannot satisfy",
    "(?i)be satisfied",
    "(?i)be held in",
    "(?i)failed to fit",
    "(?i)failed to hold",
    "(?i)unable to hold",
    "(?i)did not succeed",
    "(?i)unsuccessful",
    "(?i)llocation for",
    "(?i)llocation req",
    "(?i)llocation (",
    "(?i)llocation was",
    "(?i)llocation could",
    "(?i)llocating ",
    "(?i)memory request",
    "(?i)reservation of",
    "(?i)mmap of",
    "(?i)mmap for",
    "(?i)mmap (",
    "(?i)above limit",
    "(?i)went over",
    "(?i)beyond its",
    "(?i)beyond the",
    "(?i)beyond max",
    "(?i)low mem",
    "(?i)ssertion",
    "(?i) hit the",
    "(?i) hit its",
    "(?i)reached the lim",
    "(?i)reached the max",
    "(?i)reached the mem",
    "(?i)reached the quota",
    "(?i)reached the budget",
    "(?i)reached its",
    "(?i)too small",
    "(?i)at least ",
    "(?i) needs ",
    "(?i)too low",
    "(?i)not large enough",
    "(?i)required mem",
    "(?i)memory required",
    "(?i)memory needed",
    "(?i)estimated mem",
    "(?i)estimated ram",
    "(?i)bytes required",
    "(?i)bytes needed",
    "(?i)but only ",
    "(?i)less than the",
    "(?i)too big to",
    "(?i)too little",
    "(?i)lack of",
    "(?i)lacking",
    "(?i)short of ",
    "(?i)short on ",
    "(?i)low on ",
    "(?i)no more ",
    "(?i)no free ",
    "(?i)no available",
    "(?i)no heap ",
    "(?i)no VRAM",
    "(?i)no GPU mem",
    "(?i)no device mem",
    "(?i)no host mem",
    "(?i)no system mem",
    "(?i)space full",
    "(?i)heap full",
    "(?i)pool full",
    "(?i)pool is full",
    "(?i)heap is full",
    "(?i)space is full",
    "(?i)arena is full",
    "(?i)VRAM is full",
    "(?i)used up",
    "(?i)ran out",
    "(?i)heap overflow",
    "(?i)arena overflow",
    "(?i)pool overflow",
    "(?i)VRAM overflow",
    "(?i)memory pressure",
    "(?i)due to memory",
    "(?i)because of high",
    "(?i)due to high",
    "(?i)memory required",
    "(?i)memory needed",
    "(?i)operator new",
    "(?i)sbrk failed",
    "(?i)enough storage",
    "(?i)enough quota",
    "(?i)system resources",
    "(?i)paging file",
    "(?i)got OOM",
    "(?i)hit OOM",
    "(?i)OOM killer",
    "(?i)no more memory",
    "(?i)no free memory",
    "(?i)exceeding",
    "(?i)would exceed",
    "(?i)will exceed",
    "(?i)can exceed",
    "(?i)exceed the",
    "(?i)memory budget",
    "(?i) OOM!",
    "(?i) OOM,",
    "(?i) OOM.",
    "(?i)would require",
    "(?i)would need",
    "(?i)but only ",
    "(?i)exceed limit",
    "(?i)exceed memory",
    "(?i)limit reached",
    "(?i)MemoryLimit",
    "(?i)LimitExceeded",
    "(?i)trying to alloc",
    "(?i)tried to alloc",
    "(?i)n't enough",
    "(?i)but limit",
    "(?i)but the limit",
    "(?i)but have ",
    "(?i)maxed out",
    "(?i)memory threshold",
    "(?i)pool exploded",
    "(?i)lloc of size",
    "(?i)bytes failed",
    "(?i)but there ",
    "(?i)but avail",
    "(?i)largest free",
    "(?i)killed: ",
    "(?i)killed for ",
    "(?i) > limit",
    "OOM: ",
    "(?i)bad allocation",
    "(?i)vkAllocateMemory",
    "(?i)clCreateBuffer",
    "(?i)clEnqueue",
    "(?i)swap exhaust",
    "(?i)llocator_fail",
    "(?i)llocator fail",
    "(?i)hat keinen Platz",
    "(?i)unsufficient mem",
    "(?i)limits exceeded",
    "(?i)can be allocated",
    "(?i)creating mmap",
    "(?i)mmapping",
    "(?i)growing memory",
    "(?i)high watermark",
    "(?i)not available to alloc",
    "(?i)huge pages not",
    "(?i)vmaCreate",
    "(?i)llocationFailure",
    "(?i)allocating mem",
    "(?i)allocate memory",
    "(?i)memory allocat",
    "(?i)be allocated",
    "(?i)not allocate",
    "(?i)not reserve",
    "(?i)can't get",
    "(?i)couldn't get",
    "(?i)can't malloc",
    "(?i)couldn't malloc",
    "(?i)unable to fit",
    "(?i)unable to find",
    "(?i)unable to claim",
    "(?i)free fragment",
    "(?i)no free block",
    "(?i)no free chunk",
    "(?i)no free page",
    "(?i)no more room",
    "(?i)no room in",
    "(?i)no room for",
    "(?i)no space in",
    "(?i)no space left in",
    "(?i)lack of space",
    "(?i)exhausting",
    "(?i)exhaustion",
    "(?i)depleted",
    "(?i)below minimum",
    "(?i)below the minimum",
    "(?i)minimum requirement",
    "(?i)too big for",
    "(?i)more memory than",
    "(?i)mem limit",
    "(?i)heap limit",
    "(?i)rss limit",
    "(?i)ram limit",
    "(?i)memory cap",
    "(?i)memory usage exce",
    "(?i)exceed max",
    "(?i)exceed its",
    "(?i)exceed avail",
    "(?i)_EXCEEDED",
    "(?i)MEM_FULL",
    "(?i)MEMORY_FULL",
    "(?i)overran",
    "(?i)surpass",
    "(?i)much memory",
    "(?i)excessive mem",
    "(?i)low on memory",
    "(?i)B of RAM",
    "(?i)B of memory",
    "(?i)B of GPU",
    "(?i)B of VRAM",
    "内存不足",
    "显存不足",
    "内存溢出",
    "内存耗尽",
    "显存溢出",
    "显存耗尽",
    "无法分配",
    "分配失败",
    "記憶體不足",
    "メモリ不足",
    "メモリが不足",
    "メモリを割り当て",
    "메모리 부족",
    "메모리가 부족",
    "메모리를 할당",
    "nicht genügend",
    "nicht genug",
    "Nicht genügend",
    "Nicht genug",
    "zu wenig",
    "mémoire",
    "Mémoire",
    "allouer",
    "pas assez",
    "memoria insuficiente",
    "Memoria insuficiente",
    "sin memoria",
    "memória insuficiente",
    "Memória insuficiente",
    "sem memória",
    "agotada",
    "esaurita",
    "esgotada",
    "ar memoria",
    "alocar memória",
    "allocare memoria",
    "erschöpft",
    "verbraucht",
    "исчерпана",
    "wyczerpana",
    "przydzielić pamięci",
    "onvoldoende geheugen",
    "内存已耗尽",
    "内存用尽",
    "メモリを使い果た",
    "メモリを確保",
    "메모리가 바닥",
    "Kann nicht",
    "kann nicht",
    "onnte nicht",
    "едостаточно памяти",
    "ехватка памяти",
    "е хватает памяти",
    "е хватило памяти",
    "е удалось выделить",
    "ein Speicher vorhanden",
    "enug Speicher",
    "roppo poca memoria",
    "uori memoria",
    "lut på minne",
    "nte tillräckligt med minne",
    "kke nok hukommelse",
    "kke nok minne",
    "kke allokere",
    "nte allokera",
    "een geheugen",
    "geheugen toewijzen",
    "geheugen reserveren",
    "Za mało pamięci",
    "a mało pamięci",
    "ało pamięci",
    "edostatek paměti",
    "álo paměti",
    "lokovat paměť",
    "incs elég memória",
    "oglalható memória",
    "etersiz bellek",
    "ellek yetersiz",
    "ellek ayr",
    "emorie insuficient",
    "uisti loppu",
    "едостатньо пам",
    "рак пам",
    "евозможно выделить",
    "メモリーが不足",
    "メモリー不足",
    "メモリが足り",
    "無法配置記憶體",
    "记忆体不足",
    "內存不足",
    "allocation de mémoire",
    // The kernel's number for it, behind what failed.
    "(?i)failed: -12",
    "(?i)failed (-12",
    "(?i)error -12",
    "(?i)error: -12",
    "(?i)error (-12",
    "(?i)returned -12",
    "(?i)failed with -12",
    "(?i)ret=-12",
    "(?i)ret = -12",
    "(?i)rc=-12",
    "(?i)ate: -12",
    "(?i)s: -12",
    "(?i)OOM detected",
    " with more memory",
    "(?i)memlim",
    "(?i)returns NULL",
    "(?i)B VRAM",
    "(?i)GPU has ",
    "(?i)card has ",
    "(?i)device has ",
    "(?i)system has ",
    "(?i)machine has ",
    "ein Speicher mehr",
    "einen Speicher mehr",
    "peicher konnte",
    "peicher kann",
    "メモリがありません",
    "メモリが確保",
    "申请显存",
    "申请内存",
    "分配内存失败",
    "分配显存失败",
];

/// Names of errors: whoever prints one reports it. As printed, and what they tell of the resource.
const NAMES: &[(&str, Option<Resource>)] = {
    use Resource::{Gpu, Host};
    &[
        ("CUDA_ERROR_OUT_OF_MEMORY", Some(Gpu)),
        ("cudaErrorMemoryAllocation", Some(Gpu)),
        ("hipErrorOutOfMemory", Some(Gpu)),
        ("hipErrorMemoryAllocation", Some(Gpu)),
        ("STATUS_ALLOC_FAILED", Some(Gpu)),
        ("CL_MEM_OBJECT_ALLOCATION_FAILURE", Some(Gpu)),
        ("CL_OUT_OF_RESOURCES", Some(Gpu)),
        ("CL_OUT_OF_HOST_MEMORY", Some(Host)),
        ("VK_ERROR_OUT_OF_DEVICE_MEMORY", Some(Gpu)),
        ("VK_ERROR_OUT_OF_POOL_MEMORY", Some(Gpu)),
        ("VK_ERROR_OUT_OF_HOST_MEMORY", Some(Host)),
        ("ErrorOutOfDeviceMemory", Some(Gpu)),
        ("ErrorOutOfHostMemory", Some(Host)),
        ("ERROR_OUT_OF_DEVICE_MEMORY", Some(Gpu)),
        ("ERROR_OUT_OF_HOST_MEMORY", Some(Host)),
        ("OUT_OF_DEVICE_MEMORY", Some(Gpu)),
        ("OUT_OF_HOST_MEMORY", Some(Host)),
        ("ERROR_OUT_OF_RESOURCES", Some(Gpu)),
        ("kIOGPUCommandBufferCallbackErrorOutOfMemory", Some(Gpu)),
        ("OutOfResources", Some(Gpu)),
        ("_OUT_OF_MEMORY", None),
        ("OUT_OF_MEMORY", None),
        ("DXGI_ERROR_OUTOFMEMORY", Some(Gpu)),
        ("E_OUTOFMEMORY", None),
        ("0x8007000E", None),
        ("0x8007000e", None),
        ("HRESULT=8007000e", None),
        ("0xC0000017", Some(Host)),
        ("0xc0000017", Some(Host)),
        ("0xC000012D", Some(Host)),
        ("OutOfMemoryException", None),
        ("OutOfMemoryError", None),
        ("OutOfMemory", None),
        ("OutofMemory", None),
        ("OutOfDeviceMemory", Some(Gpu)),
        ("OutOfHostMemory", Some(Host)),
        // PostScript's.
        ("/VMerror in", Some(Host)),
        // Only thrust's and RMM's exceptions say more than the standard library's.
        ("bad_alloc: out of memory", Some(Gpu)),
        ("bad_alloc: out_of_memory", Some(Gpu)),
        ("std::bad_alloc", None),
        ("bad_alloc", None),
        ("bad_array_new_length", None),
        ("NoMemoryError", None),
        ("MemoryError", None),
        ("ENOMEM", Some(Host)),
        ("STATUS_NO_MEMORY", Some(Host)),
        ("ERROR_NOT_ENOUGH_MEMORY", Some(Host)),
        ("NOT_ENOUGH_MEMORY", None),
        ("FAILED_TO_ALLOCATE", None),
        ("_NO_MEMORY", None),
        ("ERR_NO_MEM", None),
        ("_NOMEM", None),
        ("STORAGE_ERROR", Some(Host)),
        ("OOMError", None),
        ("MemoryLimitExceeded", None),
        ("MemoryLimitException", None),
        ("ExceededMemoryLimit", None),
        ("MEMORY_LIMIT_EXCEEDED", None),
        ("AllocationError", None),
        ("InsufficientMemory", None),
        ("NOT_ENOUGH_FREE_MEMORY", None),
        ("StatusType.MEMOUT", None),
        ("INSUFFICIENT_MEMORY", None),
        ("NotEnoughMemory", None),
        ("AllocFailed", None),
        ("rocblas_status_memory_error", Some(Gpu)),
        ("AllocationFailed", None),
        ("AllocationFailure", None),
    ]
};

/// Sentences that need nothing else to mean it, in lower case.
const SENTENCES: &[(&str, Option<Resource>)] = {
    use Resource::{Gpu, Host, Shm};
    &[
        ("no more room for lisp objects", Some(Host)),
        // Buck2, of its daemon.
        ("killed by an oom killer", Some(Host)),
        // Electron's word for a window's process that is gone (shell/common/gin_converters: `render-process-gone`).
        ("reason: oom", Some(Host)),
        ("reason: 'oom'", Some(Host)),
        ("memory allocation fault", Some(Host)),
        // FINUFFT, include/finufft/errors.h
        ("malloc size requested greater than", Some(Host)),
        // Prolog's and Lisp's stacks of data have a size that is set.
        ("stack overflow (size:", Some(Host)),
        ("unable to shrink memory footprint", Some(Host)),
        ("out of gpu memory", Some(Gpu)),
        ("out of device memory", Some(Gpu)),
        ("out of video memory", Some(Gpu)),
        ("out of vram", Some(Gpu)),
        ("out of host memory", Some(Host)),
        ("out of system memory", Some(Host)),
        ("out of cuda memory", Some(Gpu)),
        ("out of process memory", Some(Host)),
        ("out of virtual memory", Some(Host)),
        ("out of physical memory", Some(Host)),
        ("out of pinned memory", Some(Host)),
        ("out of local memory", None),
        ("out of shared memory", None),
        ("out of unified memory", Some(Gpu)),
        ("out of graphics memory", Some(Gpu)),
        ("out of dedicated memory", Some(Gpu)),
        ("out of global memory", None),
        ("exceeds available memory", None),
        ("exceeds the available memory", None),
        ("exceeds memory limit", None),
        ("exceeds the memory limit", None),
        ("exceeded memory limit", None),
        ("exceeded the memory limit", None),
        ("memory exceed limit", None),
        ("memory usage limit reached", None),
        ("memory usage maxed out", None),
        ("memory threshold being reached", None),
        ("mmap ran out of room", Some(Host)),
        ("bogus memory allocation size", Some(Host)),
        ("memory circuit breaker triggered", Some(Host)),
        // The sanitizers' own limit of one request.
        ("exceeds maximum supported size of 0x", Some(Host)),
        // libc++, of a request that no machine has.
        ("'n' exceeds maximum supported", Some(Host)),
        // Aligners of genomes, once they have tried smaller ways.
        ("on a computer with more memory", Some(Host)),
        ("on a machine with more memory", Some(Host)),
        ("reallocation would exceed maximum size", Some(Host)),
        ("not possible with memory allowed", Some(Host)),
        ("resource limit exceeded. rss limit", Some(Host)),
        ("resource limit exceeded. current rss", Some(Host)),
        ("mem_commit failed", Some(Host)),
        ("ram but only", Some(Host)),
        ("virtualalloc commit failed", Some(Host)),
        ("virtualalloc reserve failed", Some(Host)),
        ("virtualallocex failed", Some(Host)),
        ("posix_memalign failed", Some(Host)),
        // Quake's engine and those made of it.
        ("hunk_alloc: failed on", Some(Host)),
        ("unsufficient memory", None),
        ("memory limits exceeded", None),
        ("no memory can be allocated", None),
        ("error creating mmap", Some(Host)),
        ("error mmapping", Some(Host)),
        ("trap when growing memory", Some(Host)),
        ("badalloc (insufficient resources", None),
        ("mmap hat keinen platz", Some(Host)),
        ("memory hits the high watermark", Some(Host)),
        ("hit the high watermark of system", Some(Host)),
        ("memory not available to alloc", None),
        ("may indicate out of memory", Some(Host)),
        ("virtual memory limit reached", Some(Host)),
        ("security limit exceeded: memory", Some(Host)),
        ("bytes of huge pages not available", Some(Host)),
        ("vmacreateimage failed with error -2", Some(Gpu)),
        ("vmacreatebuffer failed with error -2", Some(Gpu)),
        ("memory pool exploded", None),
        ("memory pool overflow", None),
        ("reached the memory limit", None),
        ("reached memory limit", None),
        ("reached the pre-set memory limit", None),
        ("hit the memory limit", None),
        ("no memory available", None),
        ("no memory:", None),
        ("cache resources exhausted", Some(Host)),
        ("out of system ram", Some(Host)),
        ("out of ram", Some(Host)),
        ("out of swap", Some(Host)),
        ("out of heap", Some(Host)),
        ("lack of memory", None),
        // dar's locked pages.
        ("lack of secured memory", Some(Host)),
        // OpenBLAS (driver/others/memory.c): its table of buffers, and its threads' stacks.
        ("tried to allocate too many memory regions", Some(Host)),
        ("blas_thread_init: pthread_create failed", Some(Host)),
        // FFTW's only check of what malloc gave (kernel/alloc.c).
        ("fftw: alloc.c:", Some(Host)),
        // Aeron's media driver, whose logs lie in /dev/shm unless told otherwise.
        ("insufficient usable storage for new log", Some(Resource::Shm)),
        // Flume's memory channel.
        ("byte capacity allocated to store event body", Some(Host)),
        // iPXE's text for ENOMEM.
        ("not enough space (https://ipxe.org/31", Some(Host)),
        ("no enough memory", None),
        ("using too much memory", None),
        ("used too much memory", None),
        ("leave room for kv cache", Some(Resource::KvCache)),
        ("no room for kv cache", Some(Resource::KvCache)),
        ("allocating too much memory", None),
        ("consuming too much memory", None),
        ("memory object allocation failure", Some(Gpu)),
        ("exceeds /dev/shm size", Some(Shm)),
        ("no more memory", None),
        ("no more free memory", None),
        ("failed to assign memory", None),
        ("rejected due to memory limit", None),
        // libqb, under Corosync and Pacemaker: its segments lie there.
        ("shm connection failed: no space left", Some(Shm)),
        ("no free memory", None),
        ("memory shortage", None),
        ("shortage of memory", None),
        ("memory overflow", None),
        ("memory is overflow", None),
        ("memory has overflowed", None),
        ("excessive memory consumption", None),
        ("garbage collector is thrashing", Some(Host)),
        ("garbage collector thrashing", Some(Host)),
        ("gc thrashing", Some(Host)),
        ("not enough storage is available to", Some(Host)),
        ("not enough quota is available to", Some(Host)),
        ("insufficient system resources exist", Some(Host)),
        ("operator new failed", Some(Host)),
        ("killed by the oom killer", Some(Host)),
        ("due to oom", None),
        ("buffer size exceeds device limit", Some(Gpu)),
        ("failed to create metal resource", Some(Gpu)),
        ("object allocation failed", Some(Host)),
        ("got oom", None),
        ("hit oom", None),
        ("out of core while", Some(Host)),
        ("out of core in", Some(Host)),
        ("memory limit reached", None),
        ("memory limit exceeded", None),
        ("memory is full", None),
        ("memory full", None),
        ("out of mem ", None),
        ("out of mem!", None),
        ("out of mem,", None),
        ("oom!", None),
        ("oom during", None),
        ("memory threshold reached, terminating", Some(Host)),
        ("out of memory", None),
        ("out-of-memory", None),
        ("out_of_memory", None),
        ("cannot allocate memory", Some(Host)),
        ("memory exhausted", None),
        ("not be executed in the allotted memory", Some(Host)),
        ("maximum heap size reached", Some(Host)),
        ("proc_heap_too_large", Some(Host)),
        ("cannot memory map", Some(Host)),
        ("could not memory map", Some(Host)),
        ("failed to memory map", Some(Host)),
        ("cannot request memory", Some(Host)),
        ("unable to setup memory (12)", Some(Host)),
        ("memory allocation problem", None),
        ("memory allocation failed", None),
        ("memory allocation failure", None),
        ("memory allocation error", None),
        ("error in memory allocation", None),
        // PostgreSQL's (utils/mmgr/mcxt.c), above a GiB less a byte.
        ("invalid memory alloc request size", Some(Host)),
        ("error when allocating memory", None),
        // Open MPI's file of shared memory (help-opal-shmem-mmap.txt).
        ("not enough space for /dev/shm/", Some(Shm)),
        ("no memory left", None),
        ("cuda oom", Some(Gpu)),
        ("gpu oom", Some(Gpu)),
        ("oom error", None),
        ("bad allocation", None),
        ("bad alloc", None),
        (" oom:", None),
        ("(oom)", None),
        ("[oom]", None),
        ("oomed", None),
        ("显存不足", Some(Gpu)),
        ("显存溢出", Some(Gpu)),
        ("显存耗尽", Some(Gpu)),
        ("内存不足", None),
        ("内存溢出", None),
        ("内存耗尽", None),
        ("記憶體不足", None),
        ("メモリ不足", None),
        ("メモリが不足", None),
        ("메모리 부족", None),
        ("메모리가 부족", None),
        ("недостаточно памяти", None),
        ("нехватка памяти", None),
        ("не хватает памяти", None),
        ("не хватило памяти", None),
        ("memoria insuficiente", None),
        ("sin memoria", None),
        ("memória insuficiente", None),
        ("sem memória", None),
        // The C library's and GNU's two sentences, as they are translated.
        ("mémoire épuisée", Some(Host)),
        ("speicher erschöpft", Some(Host)),
        ("speicher ist erschöpft", Some(Host)),
        ("speicher verbraucht", Some(Host)),
        ("memoria agotada", Some(Host)),
        ("memoria esaurita", Some(Host)),
        ("memória esgotada", Some(Host)),
        ("память исчерпана", Some(Host)),
        ("pamięć wyczerpana", Some(Host)),
        ("onvoldoende geheugen", Some(Host)),
        ("内存已耗尽", Some(Host)),
        ("内存用尽", Some(Host)),
        ("メモリを使い果た", Some(Host)),
        ("メモリを確保できません", Some(Host)),
        ("메모리가 바닥", Some(Host)),
        ("asignar memoria", Some(Host)),
        ("reservar memoria", Some(Host)),
        ("alocar memória", Some(Host)),
        ("allocare memoria", Some(Host)),
        ("przydzielić pamięci", Some(Host)),
        ("mémoire insuffisante", None),
        ("mémoire saturée", None),
        ("kein speicher vorhanden", None),
        ("nicht genug speicher", None),
        ("nicht genügend speicher", None),
        ("nicht genügend hauptspeicher", Some(Host)),
        ("troppo poca memoria", None),
        ("fuori memoria", None),
        ("slut på minne", None),
        ("inte tillräckligt med minne", None),
        ("ikke nok hukommelse", None),
        ("ikke nok minne", None),
        ("inte allokera minne", Some(Host)),
        ("ikke allokere hukommelse", Some(Host)),
        ("ikke allokere minne", Some(Host)),
        ("geen geheugen", None),
        ("geheugen toewijzen", Some(Host)),
        ("geheugen reserveren", Some(Host)),
        ("za mało pamięci", None),
        ("zbyt mało pamięci", None),
        ("nedostatek paměti", None),
        ("málo paměti", None),
        ("alokovat paměť", Some(Host)),
        ("nincs elég memória", None),
        ("nem foglalható memória", Some(Host)),
        ("yetersiz bellek", None),
        ("bellek yetersiz", None),
        ("bellek ayrılam", Some(Host)),
        ("memorie insuficient", None),
        ("muisti loppui", None),
        ("недостатньо пам", None),
        ("брак пам", None),
        ("невозможно выделить память", Some(Host)),
        ("メモリーが不足", None),
        ("メモリー不足", None),
        ("メモリが足り", None),
        ("無法配置記憶體", Some(Host)),
        ("內存不足", None),
        ("oom detected", None),
        ("kein speicher mehr", None),
        ("keinen speicher mehr", None),
        ("pas assez de mémoire", None),
        ("plus assez de mémoire", None),
        ("メモリがありません", None),
        ("メモリが確保でき", None),
        ("申请显存失败", Some(Gpu)),
        ("申请内存失败", None),
        ("分配内存失败", None),
        ("分配显存失败", Some(Gpu)),
        ("manque de mémoire", None),
        ("plus de mémoire", None),
    ]
};

/// Words for a refusal; beside one of [`MATTER`] they mean memory.
const REFUSALS: &[&str] = &[
    "failed to alloc",
    "failed attempt to alloc",
    "failed to reserve",
    "failed to map",
    "failed to create buffer",
    "failed to create a buffer",
    "unable to mmap",
    "cannot mmap",
    "failed to mmap",
    "could not mmap",
    "unable to alloc",
    "unable to virtual alloc",
    "cannot alloc",
    "can't alloc",
    "can not alloc",
    "could not alloc",
    "couldn't alloc",
    "error allocating",
    "allocation fail",
    "allocation error",
    "failed allocat",
    "failure allocat",
    "failure to alloc",
    "fails to alloc",
    "fail to alloc",
    "fails alloc",
    "failing to alloc",
    "fail to reserve",
    "fail to malloc",
    "refuses to provide",
    "refused to provide",
    "refused to give",
    "too little",
    "too small for",
    "is too small to",
    "won't fit",
    "will not fit",
    "not fit in",
    "could not fit",
    "not able to alloc",
    "trouble alloc",
    "problem alloc",
    "problems alloc",
    "allocate fail",
    "alloc failed",
    "alloc fail",
    "alloc error",
    "alloc() failed",
    "alloc() error",
    "failed to malloc",
    "failed to calloc",
    "failed to realloc",
    "mmap failed",
    "not enough",
    "not have enough",
    "not provide enough",
    "alloc: fail",
    "alloc(): fail",
    "n't have enough",
    "n't enough",
    "insufficient",
    "not sufficient",
    "ran out of",
    "run out of",
    "running out of",
    "runs out of",
    "exhausted",
    "does not fit",
    "doesn't fit",
    "cannot fit",
    "not available to alloc",
    "no memory",
    "无法分配",
    "分配失败",
    "を割り当て",
    "를 할당",
    "nicht genügend",
    "nicht genug",
    "zu wenig",
    "insuffisant",
    "pas assez",
    "pas suffisamment",
    "pu allouer",
    "d'allouer",
    "échec d'allocation",
    "échec de l'allocation",
    "не удалось выделить",
];

/// Words for not getting something: they mean memory only where that is the next thing that is named.
const MISSES: &[&str] = &[
    "failed to get",
    "could not get",
    "cannot get",
    "unable to get",
    "could not reserve",
    "unable to reserve",
    "cannot reserve",
    "unable to obtain",
    "could not obtain",
    "failed to obtain",
    "could not acquire",
    "failed to acquire",
    "unable to acquire",
    "cannot create",
    "could not create",
    "unable to create",
    "could not commit",
    "cannot commit",
    "unable to commit",
    "could not grow",
    "could not expand",
    "could not extend",
    "could not resize",
    "unable to resize",
    "cannot resize",
    "failed to expand",
    "failed to enlarge",
    "could not enlarge",
    "unable to enlarge",
    "cannot enlarge",
    "cannot hold",
    "could not hold",
    "cannot provide",
    "unable to provide",
    "could not provide",
    "failed to provide",
    "failed to commit",
    "failed to grow",
    "cannot grow",
    "unable to grow",
    "cannot expand",
    "unable to expand",
    "failed to extend",
    "cannot extend",
    "unable to extend",
    "failed to resize",
    "unable to map",
    "cannot map",
    "could not map",
];

/// What is missed, directly behind such words.
const MISSED: &[&str] =
    &["memory", "vram", "heap", "bytes of", " bytes", "mib", "gib", "arena", "buffer of", "array of", "workspace"];

/// Words for a need.
const NEEDS: &[&str] = &["would require", "would need", "requires", "required", "needs", "needed"];

/// Calls that take memory, and words that say that one failed, in one clause.
const CALLS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "mmap(",
    "allocating",
    "allocate ",
    "memalign",
    "mmap ",
    "alloc buffer",
    "alloc memory",
    "alloc mem ",
];
const FAILS: &[&str] = &[
    "failed",
    "failure",
    "error",
    "returned null",
    "returned nullptr",
    "returned 0",
    "unsuccessful",
    "trouble",
    "problem",
    "not possible",
];

/// Words for passing a limit; beside one of [`MATTER`], one of [`BOUNDS`] and a size they mean memory.
const EXCESSES: &[&str] = &[
    "exceeds",
    "exceeded",
    "would exceed",
    "will exceed",
    "exceeding",
    "larger than",
    "too large",
    "greater than",
    "more than",
    "allocation of",
    "does not fit",
    "beyond max",
    "is beyond",
];

const BOUNDS: &[&str] = &[
    "limit",
    "available",
    "capacity",
    "maximum",
    "max",
    "free",
    "budget",
    "device",
    "total",
    "physical",
    " ram",
    "failed",
    "fail",
    "quota",
    "fit",
];

/// What memory is called.
const MATTER: &[&str] = &[
    "memory",
    "vram",
    " ram",
    "ram ",
    "bytes",
    "buffer",
    "heap",
    "hbm",
    "arena",
    "workspace",
    "mib",
    "gib",
    "memoria",
    "memória",
    "mémoire",
    "speicher",
    "памят",
    "内存",
    "显存",
    "メモリ",
    "메모리",
    "allocat",
    " gb",
    " mb",
    "0gb",
    "0mb",
    "anonymous",
    "anon segment",
    " mem ",
    " mem.",
    " mem,",
];

/// The words by which a line speaks of memory that ran out, if it does.
pub fn spoken(line: &str, lower: &str) -> Option<Spoken> {
    // gdb's word for an address that is not mapped, whose Python calls it `gdb.MemoryError`.
    if lower.contains("cannot access memory at") {
        return None;
    }
    // The last word of a line that says what could not be done; a machine's faulty memory is told in another way.
    let end = lower.trim_end_matches(['.', '!', ' ']).len();
    if let Some(at) = lower[..end].strip_suffix(", memory error").map(str::len) {
        return Some(Spoken { at: at + 2, end, named: false, resource: None });
    }
    // Some loggers, and people, write everything in lower case.
    let lowered = line == lower;
    let named = NAMES.iter().find_map(|(name, resource)| {
        let at = if lowered { lower.find(&name.to_ascii_lowercase()) } else { line.find(name) }?;
        Some(Spoken { at, end: at + name.len(), named: true, resource: *resource })
    });
    if named.is_some() {
        return named;
    }
    let said = SENTENCES.iter().find_map(|(words, resource)| {
        let at = lower.find(words)?;
        Some(Spoken { at, end: at + words.len(), named: false, resource: *resource })
    });
    if said.is_some() {
        return said;
    }
    if let Some((at, end)) = allocator_failed(lower) {
        return Some(Spoken { at, end, named: true, resource: None });
    }
    if let Some((at, end)) = device_code(lower).or_else(|| error_two(lower)) {
        return Some(Spoken { at, end, named: true, resource: Some(Resource::Gpu) });
    }
    if let Some((at, end)) = status(lower).or_else(|| asserted(lower)) {
        return Some(Spoken { at, end, named: true, resource: None });
    }
    if let Some((at, end)) = errno(lower) {
        return Some(Spoken { at, end, named: true, resource: None });
    }
    if let Some((at, end)) = bound(lower) {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    if let Some((at, end)) = low(lower).or_else(|| short_of_words(lower)) {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    if line.starts_with("OOM: ") {
        return Some(Spoken { at: 0, end: "OOM:".len(), named: false, resource: None });
    }
    if let Some((at, end)) = out_of(lower) {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    let matter = || MATTER.iter().any(|word| lower.contains(word));
    let find =
        |words: &[&str]| words.iter().filter_map(|words| lower.find(words).map(|at| (at, at + words.len()))).min();
    // `insufficient permissions to lock memory`: of something else.
    const OTHERS: &[&str] = &[
        "permission",
        "privilege",
        "right",
        "argument",
        "data",
        "sample",
        "credential",
        "fund",
        "credit",
        "balance",
        // `no memory errors`
        "error",
        "leak",
        "issue",
        "problem",
        // `no memory was allocated`, `no memory pool allocator`
        "allocated",
        "was",
        "pool",
    ];
    let other = |end: usize| {
        let behind = lower.get(end..).unwrap_or_default().trim_start();
        let word = behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        OTHERS.contains(&word.trim_end_matches('s'))
    };
    // `kann nicht 12 Byte … reservieren`
    if let Some((at, end)) = find(&["kann nicht", "konnte nicht", "können nicht", "konnten nicht"])
        && let Some(rest) = lower.get(end..)
        && ["reserviert", "reservieren", "alloz", "zuweisen", "zugewiesen", "anfordern", "angefordert"]
            .iter()
            .any(|act| rest.contains(act))
        && (lower.contains("speicher") || rest.contains(" byte") || super::roles::has_size(rest))
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // Of these there is no other kind.
    let structure = |rest: &str| {
        let clause: String = rest.chars().take(40).collect();
        ["struct", "interpreter"].iter().any(|noun| clause.contains(noun))
    };
    // What was to be allocated has a size, though nothing calls it memory.
    let sized = |at: usize, end: usize| {
        lower.get(at..end).is_some_and(|said| said.contains("alloc")) && lower.get(end..).is_some_and(has_a_plain_size)
    };
    if let Some((at, end)) = find(REFUSALS)
        // `does not fit on the devices (avail: 6500MB)`
        && (matter()
            || structure(lower.get(end..).unwrap_or_default())
            || ["gpu", "cuda", "device"].iter().any(|of| lower.contains(of)) && super::roles::has_size(line)
            || sized(at, end))
        && !other(end)
        && lower.get(end..).is_some_and(|rest| {
            // `the budget is exhausted, heap at 12 %`: what is exhausted stands before it, or in its own clause.
            let spent = lower.get(at..end) == Some("exhausted");
            let rest = if spent { rest.split(", ").next().unwrap_or_default() } else { rest };
            near(rest) || structure(rest) || sized(at, end) || lower.get(..at).is_some_and(behind_matter)
        })
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    if let Some((at, end)) = find(MISSES)
        && lower.get(end..).is_some_and(|rest| {
            let clause: String = rest.chars().take(40).collect();
            let clause = clause.split([',', ';', ':']).next().unwrap_or_default();
            let told = [" info", " usage", " stat", " limit", " utili", " propert", " clock", " type"];
            MISSED.iter().any(|word| clause.contains(word)) && !told.iter().any(|word| clause.contains(word))
        })
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // `pool/safemalloc() called from pool.h: malloc() returned nullptr`: one of several calls on the line.
    let mut calls: Vec<(usize, usize)> =
        CALLS.iter().flat_map(|call| lower.match_indices(call).map(|(at, call)| (at, at + call.len()))).collect();
    calls.sort_unstable();
    for (at, end) in calls {
        let (Some(before), Some(rest)) = (lower.get(..at), lower.get(end..)) else { continue };
        let clause: String = rest.chars().take(60).collect();
        let lead = before.rsplit([';', '.']).next().unwrap_or_default();
        let told = |text: &str| FAILS.iter().any(|word| text.contains(word));
        if told(&clause) || told(lead) && (clause.contains("memory") || super::roles::has_size(&clause)) {
            return Some(Spoken { at, end, named: false, resource: None });
        }
    }
    if let Some((at, end)) = find(EXCESSES)
        && matter()
        && ["memory", "vram", "alloc", "buffer", "workspace", "arena", "heap"].iter().any(|word| lower.contains(word))
        && BOUNDS.iter().any(|word| lower.contains(word))
        && (super::roles::has_size(line) || lower.contains("capacity exceeded"))
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // `The model weight size … may be larger than GPU memory size …`: against all that there is, in bare numbers.
    if let Some((at, end)) = find(EXCESSES).filter(|_| fails(lower))
        && let Some(rest) = lower.get(end..)
    {
        let mut words =
            rest.split([' ', '\'']).filter(|word| !matches!(*word, "" | "the" | "your" | "total" | "all" | "of"));
        let of = words.next().unwrap_or_default();
        let all = ["gpu", "device", "available", "physical", "system", "free", "installed"];
        if all.contains(&of) && words.take(2).any(|word| matches!(word.trim_end_matches(['.', ',']), "memory" | "ram"))
        {
            return Some(Spoken { at, end, named: false, resource: None });
        }
    }
    // `memory limit of 2 GiB reached`
    const LIMITS: &[&str] = &[
        "memory limit",
        "memory budget",
        "memory quota",
        "memory cap",
        "memory ceiling",
        "stack limit",
        "heap limit",
        "ram limit",
    ];
    if let Some((at, end)) = find(LIMITS)
        && let Some(rest) = lower.get(end..)
        && let Some(clause) = rest.split([';', ',']).next().and_then(|clause| clause.split(". ").next())
        && ["reached", "exceeded", "exhausted", "was hit"].iter().any(|word| clause.contains(word))
        && super::roles::has_size(rest)
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // `would require 70 GB but only 60 GB …`: a need above a bound, both printed.
    if let Some((at, end)) = find(NEEDS)
        && let Some(rest) = lower.get(end..)
        && let Some((need, bound)) = rest
            .split_once(" but ")
            .or_else(|| rest.split_once(", only "))
            // `… so we offload the rest`: it found a way.
            .or_else(|| {
                rest.split_once(". only ").filter(|(_, bound)| lower.contains("memory") && !bound.contains(','))
            })
            .or_else(|| rest.split_once(", ").filter(|(_, bound)| holder_has(bound)))
        && super::roles::has_size(need)
        && super::roles::has_size(bound)
        && ["only", "available", "ceiling", "limit", "capacity", "free", "maximum", "has ", "have ", "budget", "cap "]
            .iter()
            .any(|word| bound.contains(word))
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // `inflate buffer of 65536 bytes is too small, need 131072`: its caller brought it.
    if lower.contains("buffer")
        && lower.contains("too small")
        && !["memory", "heap", "pool", "alloc", "vram"].iter().any(|word| lower.contains(word))
    {
        return None;
    }
    // `Failed to resize. Requested: 90000, available 65000`: a request above what there is, both printed, in a failure.
    const FAILED: &[&str] = &["failed", "failure", "error", "cannot", "could not", "unable", "too large"];
    // Uploads, messages and connections are refused as well: only where memory is named.
    const REFUSED: &[&str] =
        &["refused", "rejected", "denied", "exceed", "limit reached", "killed", "stopped", "above the"];
    let named = ["memory", "heap", "vram", " ram", "alloc", "rss "].iter().any(|word| lower.contains(word));
    if let Some((at, end)) = find(FAILED).or_else(|| find(REFUSED).filter(|_| named)).or_else(|| find(&["exhausted"]))
        && (matter() || super::roles::has_size(line))
        && !["disk", "storage", "file", "space", "swap", "bandwidth"].iter().any(|word| lower.contains(word))
        // A setting that was refused: `unable to set the memory limit to 12 bytes (usage: 34)`.
        && !["able to set", "failed to set", "cannot set"].iter().any(|words| lower.contains(words))
        && super::roles::asks_too_much(line)
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    // `working set size > RAM limit: 9 GB > 8 GB`: what is held above a limit, by their labels and by their figures.
    if let Some(at) = lower.find(" > ")
        && lower.get(at..).is_some_and(|rest| rest.contains("limit"))
        && ["memory", "vram", " ram", "rss", "resident", "working set", "heap"].iter().any(|word| lower.contains(word))
        && super::roles::asks_too_much(line)
    {
        return Some(Spoken { at, end: at + 3, named: false, resource: None });
    }
    const WANTS: &[&str] =
        &["requir", "request", "need", "want", "minimum", "attempt", "tried to", "trying to", "asked for"];
    // `work_mem=262144 is too small`, `at least 16 GB of RAM are needed`: what is set or there is not enough,
    // where the line says that something failed.
    // A buffer that is too small is as often one that its caller brought.
    const SIZED: &[&str] =
        &["memory", "vram", " ram", "ram=", "heap", "workspace", "arena", "pool", "cache", "_mem", "xmx"];
    const LEAST: &[&str] = &["at least", "minimum of", "not less than", "no less than"];
    if fails(lower) && SIZED.iter().any(|word| lower.contains(word)) && !lower.contains("disk") {
        let small = ["too small", "too low", "not large enough", "not sufficient", "insufficient"];
        if let Some((at, end)) = find(&small)
            && super::roles::sizes_before(line, at)
        {
            return Some(Spoken { at, end, named: false, resource: None });
        }
        let wants = || WANTS.iter().any(|word| lower.contains(word));
        if let Some((at, end)) = find(LEAST).filter(|_| matter() && wants())
            && lower.get(end..).is_some_and(super::roles::begins_with_size)
        {
            return Some(Spoken { at, end, named: false, resource: None });
        }
    }
    // A need above what there is, both printed, of memory: a check before the work begins.
    if ["memory", "vram", " ram", "workspace", "arena", "heap"].iter().any(|word| lower.contains(word))
        && !lower.contains("disk")
        && super::roles::asks_too_much(line)
        && let Some((at, end)) = find(WANTS)
    {
        return Some(Spoken { at, end, named: false, resource: None });
    }
    let exhausted = resource_exhausted(line, lower, lowered);
    exhausted
        .or_else(|| {
            let (at, end) = clause::code(line)?;
            Some(Spoken { at, end, named: true, resource: None })
        })
        .or_else(|| {
            let (at, end) = clause::spoken(lower)?;
            Some(Spoken { at, end, named: false, resource: None })
        })
}

/// `the GPU has 24 GB`, `this machine only has 8 GB`: of whom it was needed.
fn holder_has(bound: &str) -> bool {
    let mut words = bound.split(' ').filter(|word| !matches!(*word, "the" | "this" | "your" | "only" | "just" | "and"));
    let holder = words.next().is_some_and(|word| {
        matches!(word, "gpu" | "device" | "card" | "system" | "machine" | "host" | "node" | "had" | "has" | "have")
    });
    holder && bound.split(' ').any(|word| matches!(word, "has" | "have" | "had"))
}

/// A device interface's call that failed with the number of its error for memory: `clCreateBuffer failed: -4`,
/// `vkAllocateMemory: VkResult -2`, `Error -61: clCreateBuffer`.
fn device_code(lower: &str) -> Option<(usize, usize)> {
    const CALLS: &[(&str, &[&str])] =
        &[("vkallocatememory", &["-1", "-2"]), ("clcreatebuffer", &["-4", "-6"]), ("clenqueue", &["-4", "-6"])];
    CALLS.iter().find_map(|(call, codes)| {
        let at = lower.find(call)?;
        let behind = lower.get(at..)?;
        // What stands before the call is its code where it is called an error's.
        let before = lower.get(..at)?.rsplit_once("error ").map_or("", |(_, code)| code);
        let mut numbers = behind.split(|c: char| !(c.is_ascii_digit() || c == '-'));
        // `OpenCL Error (-61): Invalid Buffer Size when calling clCreateBuffer`: no buffer may be so large.
        let first = before.split(|c: char| !(c.is_ascii_digit() || c == '-')).find(|number| !number.is_empty());
        let coded = numbers.any(|number| codes.contains(&number))
            || first.is_some_and(|code| codes.contains(&code) || code == "-61");
        let fails = ["fail", "error", "result", "returned", "err "].iter().any(|word| lower.contains(word));
        (coded && fails).then_some((at, at + call.len()))
    })
}

/// CUDA's and HIP's error for memory by its number alone, which is 2 in the runtime and in the driver: `cuda execution
/// failed with error 2`, `CUDA failure 2`. Where words follow, they tell.
fn error_two(lower: &str) -> Option<(usize, usize)> {
    // A compiler's `make: *** [cuda/all] Error 2` is none: the words stand together, or the call failed with it.
    const OWN: &[&str] = &["", "runtime ", "driver ", "api ", "kernel ", "execution "];
    const TOLD: &[&str] = &["error code ", "error: ", "error=", "error ", "failure ", "failed with error "];
    ["cuda ", "hip "].iter().find_map(|interface| {
        let at = lower.find(interface)?;
        let behind = lower.get(at + interface.len()..)?;
        let (own, told) = OWN.iter().flat_map(|own| TOLD.iter().map(move |told| (own, told))).find(|(own, told)| {
            behind.strip_prefix(**own).is_some_and(|rest| rest.strip_prefix(**told).is_some_and(|n| n.starts_with('2')))
        })?;
        let end = at + interface.len() + own.len() + told.len() + 1;
        let rest = lower.get(end..)?;
        let alone = rest.is_empty()
            || rest.starts_with([' ', ',', ';', ')', ']', '['])
            || rest.starts_with(". ")
            || rest == ".";
        let says_more = rest.trim_start().starts_with(['(', ':', '-']) && rest.chars().any(char::is_alphabetic);
        (alone && !says_more).then_some((at, end))
    })
}

/// A status by its words, `status=4 message=Allocation Failure`, `error: "allocation failed"`.
fn status(lower: &str) -> Option<(usize, usize)> {
    ["allocation failure", "allocation failed"].iter().find_map(|words| {
        let at = lower.find(words)?;
        let end = at + words.len();
        let lead = lower[..at].trim_end_matches(['"', '\'', '(']);
        let ends = lower[end..].trim_start_matches(['"', '\'', ')', '.', '!']).trim_start();
        let keyed = ["message=", "error=", "status=", "reason=", "err=", "msg=", "message:", "reason:"]
            .iter()
            .any(|key| lead.trim_end().ends_with(key));
        (keyed && (ends.is_empty() || ends.starts_with([',', ';', '}', ']']))).then_some((at, end))
    })
}

/// The kernel's number for memory behind what failed: `foo: validate: -12`, `probe failed with error -12`. In its log a
/// function's name and the number are enough.
fn errno(lower: &str) -> Option<(usize, usize)> {
    let (at, number) = lower.match_indices("-12").find(|(at, _)| {
        let lead = lower.get(..*at).unwrap_or_default();
        let behind = lower.get(at + "-12".len()..).unwrap_or_default();
        let ends = !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '/' | '%'))
            || behind.starts_with('.') && behind[1..].trim().is_empty();
        let word = lead.trim_end_matches([' ', ':', '=', '(']);
        let told = ["failed", "failed with", "error", "errno", "err", "returned", "ret", "rc", "failure"]
            .iter()
            .any(|told| word.strip_suffix(told).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric())));
        // `[12.345678] drm 0000:01:00.0: validate: -12`
        let ringed = lower.trim_start().starts_with('[') && lower.contains("] ") || lower.contains(" kernel: ");
        let last = behind.trim().is_empty() && lead.ends_with(": ");
        // `exit status: -12`: a signal's number.
        let other = ["exit", "code", "status", "signal", "offset", "level", "temperature", "gain", "returncode"]
            .iter()
            .any(|other| word.ends_with(other));
        let told = told && fails(lower) || last && (ringed || !other && fails(lower));
        ends && lead.ends_with([' ', '=', '(']) && told
    })?;
    Some((at, at + number.len()))
}

/// True for a line that says that something failed.
fn fails(lower: &str) -> bool {
    FAILURES.iter().any(|word| lower.contains(word))
}

/// A limit by its setting's name, and that it was met: `reached -DMEMLIM bound`, `memlimit exceeded`.
fn bound(lower: &str) -> Option<(usize, usize)> {
    // `Memory limit (1048576) hit upon malloc(…)`
    let numbered = |at: &usize| {
        let behind = lower[*at..].strip_prefix("memory limit (").and_then(|rest| rest.split_once(") "));
        behind.is_some_and(|(number, said)| number.bytes().all(|b| b.is_ascii_digit()) && said.starts_with("hit"))
    };
    if let Some(at) = lower.find("memory limit (").filter(numbered) {
        return Some((at, at + "memory limit".len()));
    }
    // `state = ENCODER_MEMORY_ALLOCATION_ERROR`; alone it is a name in a list of them.
    if let Some(at) = lower.find("memory_allocation_error").filter(|at| lower[..*at].contains("= ")) {
        return Some((at, at + "memory_allocation_error".len()));
    }
    // `matrices need 5050.0 Mb > 1024.0 Mb limit`
    if let Some(at) = lower.find(" need ").map(|at| at + 1)
        && lower[at..].split_once('>').is_some_and(|(_, limit)| limit.contains("b limit"))
    {
        return Some((at, at + "need".len()));
    }
    let at = lower.find("memlim")?;
    let said = ["reached", "exceed", "hit ", "over "].iter().any(|word| lower.contains(word));
    let set = lower.get(at..).is_some_and(|rest| rest.contains(['=', '(', '"']));
    let start = lower.get(..at)?.rfind(' ').map_or(0, |blank| blank + 1);
    (said && !set).then_some((start, at + "memlim".len()))
}

/// An assertion that failed and holds a size against the memory that there is: ``Assertion `n < getAvailableMemory()'
/// failed``.
fn asserted(lower: &str) -> Option<(usize, usize)> {
    let at = lower.find("assertion")?;
    let behind = &lower[at..];
    let (stated, _) = behind.rsplit_once("failed")?;
    let plain: String = stated.chars().filter(|c| c.is_alphanumeric() || matches!(c, '<' | '>' | '=')).collect();
    let memory = ["availablemem", "freemem", "memoryavailable", "memorylimit", "memlimit", "maxmem", "memoryleft"]
        .iter()
        .any(|words| plain.contains(words));
    (memory && plain.contains(['<', '>'])).then_some((at, at + stated.len()))
}

/// `Low mem for the result. Aborting`: too little, where the line says that something failed for it.
fn low(lower: &str) -> Option<(usize, usize)> {
    let at = lower.find("low mem")?;
    let fails = ["couldn't", "could not", "cannot", "can't", "failed", "abort", "unable"];
    let lead = &lower[..at];
    let whole = !lead.ends_with(|c: char| c.is_alphanumeric());
    // `. Err.: low memory`, all that a program says.
    let alone = ["err.: ", "err: ", "error: "].iter().any(|word| lead.ends_with(word))
        && lower[at..].trim_end_matches(['.', '!', ' ']) == "low memory";
    (whole && (alone || fails.iter().any(|word| lower.contains(word)))).then_some((at, at + "low mem".len()))
}

/// `Memory is set 12000000 words short`: words of the machine, and none of a text.
fn short_of_words(lower: &str) -> Option<(usize, usize)> {
    let at = lower.find("memory is set ")?;
    let end = at + lower[at..].find(" words short")?;
    Some((at, end + " words short".len()))
}

/// `resource exhausted` is a quota's word too.
fn resource_exhausted(line: &str, lower: &str, lowered: bool) -> Option<Spoken> {
    ["RESOURCE_EXHAUSTED", "ResourceExhausted", "resource exhausted", "resource exhaustion", " OOM "].iter().find_map(
        |words| {
            let at = if lowered { lower.find(&words.to_ascii_lowercase()) } else { line.find(words) }?;
            let meant = [
                "memory", "alloc", "hbm", "bytes", "vram", "gpu", "cuda", "mem ", "memusage", " mb", " gb", "mib",
                "gib",
            ]
            .iter()
            .any(|word| lower.contains(word));
            meant.then_some(Spoken { at, end: at + words.len(), named: !words.contains(' '), resource: None })
        },
    )
}

/// `out of pre-allocated memory`, `ran out of usable GPU memory`: words of any kind may say which memory. Where a thing
/// is taken out of it (`read out of shared memory`), it did not run out.
fn out_of(lower: &str) -> Option<(usize, usize)> {
    const MOST: usize = 4;
    const STATES: &[&str] =
        &["ran", "run", "runs", "running", "is", "was", "were", "are", "be", "been", "got", "goes", "went", "now"];
    lower.match_indices("out of ").find_map(|(at, words)| {
        let lead = lower[..at].trim_end();
        let word = lead.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !word.is_empty() && !STATES.contains(&word) {
            return None;
        }
        let from = at + words.len();
        let mut end = from;
        for word in lower[from..].split(' ').take(MOST) {
            end += word.len();
            let bare = word.trim_end_matches(|c: char| c.is_ascii_punctuation());
            if matches!(bare, "memory" | "vram" | "ram" | "heap") {
                return Some((at, end - (word.len() - bare.len())));
            }
            let plain = word.chars().all(|c| c.is_alphabetic() || c == '-');
            // `out of bounds memory access`
            if !plain || word.is_empty() || matches!(bare, "bounds" | "range" | "order") {
                return None;
            }
            end += 1;
        }
        None
    })
}

/// True where what is memory stands before the words: `heap exhausted`, `memory of the pool exhausted`.
fn behind_matter(before: &str) -> bool {
    let directly = before.trim_end().rsplit(' ').next().unwrap_or_default();
    ["memory", "mémoire", "speicher", "memoria", "memória"].iter().any(|word| before.contains(word))
        || ["heap", "arena", "vram", "ram", "buffer"].contains(&directly)
}

/// `alloc_chunk failed`, `dma_alloc_coherent() failed`: a function that allocates, and that it did not.
fn allocator_failed(lower: &str) -> Option<(usize, usize)> {
    lower.match_indices("alloc_").find_map(|(at, _)| {
        let name = lower[at..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let rest = &lower[at + name..];
        let said = rest.strip_prefix("()").unwrap_or(rest);
        let behind = said.strip_prefix(" failed").or_else(|| said.strip_prefix(": failed"))?;
        let ends = behind.is_empty() || behind.starts_with([',', ';', ':', '!', '.', ')', '"']);
        let goes_on = [" for ", " with ", " in ", " at ", " on ", " ("].iter().any(|word| behind.starts_with(word));
        // A setting of that name is no function: `alloc_conf failed to parse`.
        let of_memory = !lower[at..at + name].contains("conf");
        (of_memory && (ends || goes_on)).then(|| (at, lower.len() - behind.len()))
    })
}

/// True where memory is named within the words that follow a refusal: `not enough … memory`, `failed to allocate 12
/// bytes`.
fn near(rest: &str) -> bool {
    let clause: String = rest.chars().take(90).collect();
    MATTER.iter().any(|word| clause.contains(word)) || super::roles::has_size(&clause)
}

/// `could not allocate pvecback with size 848`: what was to be allocated, and a number that is called its size.
fn has_a_plain_size(rest: &str) -> bool {
    [" with size ", " of size ", " of length "].iter().any(|words| {
        let number = rest.split_once(words).map(|(_, number)| number);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// What ran out, by the words of a line. On a line beside the message (not its `own`) a device may be any.
pub fn resource(lower: &str, own: bool) -> Option<Resource> {
    const CACHE: &[&str] = &["kv cache", "kv-cache", "kvcache", "cache blocks"];
    const SHARED: &[&str] = &["/dev/shm", "shm_open", "shared memory segment", "shmget", "(shm)", "shared memory file"];
    const GROUP: &[&str] = &["cgroup", "container memory", "pod memory", "memory.max", "oomkilled", "container limit"];
    const HOST: &[&str] = &[
        "host memory",
        "system memory",
        "system ram",
        "system out of memory",
        "cpu memory",
        "host ram",
        "physical memory",
        "main memory",
        "page file",
        "pagefile",
        "paging file",
        "swap",
        "commit limit",
        "commit charge",
        "device 'cpu'",
        "device \"cpu\"",
        "device=cpu",
        "device: cpu",
        "device cpu",
        "on cpu",
        "pinned",
        "page-locked",
        "page locked",
        "host buffer",
        "errno 12",
        "error code is 12",
        "(12: cannot",
        "mmap",
        "cannot allocate memory",
        "std::bad_alloc",
        "virtual memory",
        "address space",
        "malloc_host",
        "cudahostalloc",
        "cumemhostalloc",
        "cudamallochost",
        "hosteregister",
        "cpu allocator",
        "posix_memalign",
        "java heap",
        "heap space",
        // Erlang's allocators: `eheap_alloc: Cannot allocate 785773080 bytes of memory (of type "heap")`.
        "of memory (of type \"",
        "系统内存",
        "主机内存",
        "物理内存",
        "оперативн",
    ];
    const DEVICE: &[&str] = &[
        "gpu",
        // Tenstorrent's (tt-metal, impl/allocator).
        "dram buffer",
        "vram",
        "cuda",
        "cumem",
        // Qualcomm's driver.
        "kgsl",
        "hip",
        "rocm",
        "opencl",
        "vulkan",
        "metal",
        "video memory",
        "graphics memory",
        "显存",
        "level zero",
        "level_zero",
        "sycl",
        "cudnn",
        "cublas",
        "nvidia",
        "nvenc",
        "nv_enc",
        // Source files of code that runs on a device.
        ".cu:",
        ".cuh:",
        "hbm",
        "directx",
        "d3d",
        "dxgi",
        "vk_",
        "texture",
        "thrust",
        "rmm",
        "видеопамят",
        "grafikspeicher",
    ];
    // Words that stand within others: `relationship`, `ResetSwapChain`.
    const SHORT: &[&str] = &["hip", "swap", "metal", "rmm", "texture", "mmap"];
    let apart =
        |word: &str| lower.match_indices(word).any(|(at, _)| !lower[..at].ends_with(|c: char| c.is_alphanumeric()));
    // A chain of images to show is no place on a disk.
    let chained = |word: &str| word == "swap" && (lower.contains("swapchain") || lower.contains("swap chain"));
    let any = |words: &[&str]| {
        words
            .iter()
            .filter(|word| !chained(word))
            .any(|word| if SHORT.contains(word) { apart(word) } else { lower.contains(word) })
    };
    // `not enough device memory or free host memory`: the first that is named is what the request was for.
    let first = |words: &[&str]| words.iter().filter_map(|word| lower.find(word)).min();
    let device_first = match (first(&["device memory", "gpu memory", "vram"]), first(&["host memory", "system memory"]))
    {
        (Some(device), Some(host)) => device < host && lower[device..host].contains(" or "),
        _ => false,
    };
    if any(CACHE) {
        Some(Resource::KvCache)
    } else if any(SHARED) {
        Some(Resource::Shm)
    } else if any(GROUP) {
        Some(Resource::Cgroup)
    } else if any(HOST) && !device_first {
        Some(Resource::Host)
    } else if any(DEVICE)
        || own && lower.replace("device list", "").replace("block device", "").contains("device")
        || lower.contains("device memory")
    {
        Some(Resource::Gpu)
    } else {
        None
    }
}
