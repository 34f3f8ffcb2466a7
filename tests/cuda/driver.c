// CUDA driver without a GPU, to compile kernels for any: launches run nothing, device memory reads
// as zeros, and KIBITZ_COMPUTE_CAPABILITY chooses the GPU, 75 for 7.5. The same library stands in
// front of NVRTC and prints the compiler's log, with registers and spills, to standard error.
//
// It has the functions that CubeCL calls; cudarc panics with the name of a missing one.

#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every context, stream, event, module and function.
#define HANDLE ((void *)1)
#define MAX_GRID_YZ 65535

static int compute_capability(void) {
    const char *text = getenv("KIBITZ_COMPUTE_CAPABILITY");
    return text ? atoi(text) : 0;
}

// Largest shared memory of a block, in bytes (CUDA C++ Programming Guide, "Compute Capabilities").
static int shared_memory(void) {
    switch (compute_capability()) {
    case 75:
        return 64 << 10;
    case 80:
        return 163 << 10;
    case 90:
        return 227 << 10;
    default:
        return 99 << 10;
    }
}

CUresult cuInit(unsigned flags) {
    return compute_capability() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = compute_capability() / 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = compute_capability() % 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = shared_memory();
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        *value = 1024;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        *value = 64;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        *value = 0x7fffffff;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        *value = MAX_GRID_YZ;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 64;
        return CUDA_SUCCESS;
    default:
        fprintf(stderr, "no value for device attribute %d\n", attribute);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    *bytes = (size_t)16 << 30;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) { return CUDA_SUCCESS; }

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    *stream = HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) { return CUDA_SUCCESS; }

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    *event = HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return CUDA_SUCCESS; }

CUresult cuEventSynchronize(CUevent event) { return CUDA_SUCCESS; }

CUresult cuEventDestroy(CUevent event) { return CUDA_SUCCESS; }

// Addresses without memory: only kernels would use them.
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    static CUdeviceptr next = 1 << 20;
    *address = __atomic_fetch_add(&next, (bytes + 511) & -512, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) { return CUDA_SUCCESS; }

CUresult cuMemAllocHost(void **memory, size_t bytes) {
    *memory = calloc(bytes, 1);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory) {
    free(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    memset(to, 0, bytes);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *ptx) {
    *module = HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    *function = HANDLE;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return CUDA_SUCCESS;
}

// Refuses grids as a real driver does; CubeCL checks blocks and shared memory before.
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra) {
    if (!grid_x || !grid_y || !grid_z || grid_y > MAX_GRID_YZ || grid_z > MAX_GRID_YZ) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void print_log(nvrtcProgram program) {
    size_t bytes = 0;
    nvrtcGetProgramLogSize(program, &bytes);
    char *log = calloc(bytes + 1, 1);
    nvrtcGetProgramLog(program, log);
    fputs(log, stderr);
    free(log);
}

// Compiles with the caller's options, and one that adds registers and spills to the log.
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    nvrtcResult (*compile)(nvrtcProgram, int, const char *const *) =
        dlsym(RTLD_NEXT, "nvrtcCompileProgram");
    const char *all[count + 1];
    memcpy(all, options, count * sizeof *all);
    all[count] = "--ptxas-options=-v";
    nvrtcResult result = compile(program, count + 1, all);
    print_log(program);
    return result;
}
