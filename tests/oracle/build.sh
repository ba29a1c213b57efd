#!/bin/bash
# build.sh VERSION - build/VERSION/harness for one release of PyTorch, see README.md
set -euo pipefail
cd "$(dirname "$0")"
version=$1 unpacked=build/$1/torch out=build/$1
mkdir -p "$out/fake" wheels

# CUDA's headers: harness.cpp includes headers of c10/cuda, which include them.
headers() { # headers FOLDER PACKAGE...
  [ -d "wheels/$1" ] && return
  pip download -q --no-deps -d wheels/packed "${@:2}"
  mkdir -p "wheels/$1"
  for package in "${@:2}"; do unzip -qo wheels/packed/"$(tr - _ <<< "${package%%==*}")"-"${package##*==}"-*.whl -d "wheels/$1"; done
}

if [ ! -d "$unpacked" ]; then
  pip download -q --no-deps -d wheels/packed "torch==$version"
  wheel=$(ls wheels/packed/torch-"$version"-*.whl)
  unzip -qo "$wheel" torch/lib/libc10.so torch/lib/libc10_cuda.so 'torch/include/c10/*' 'torch/include/torch/headeronly/*' \
    torch/version.py -d "$out" || [ $? = 11 ] # 11: a pattern matched nothing, in releases without that folder
  unzip -qoj "$wheel" 'torch.libs/*' -d "$unpacked/lib" 2> /dev/null || true # 2.0 keeps some libraries there
  rm "$wheel"
fi
cuda=$(sed -n "s/^cuda.*= '\(.*\)'/\1/p" "$unpacked/version.py") # such as 12.8
major=${cuda%%.*} minor=${cuda#*.} soname=$major
headers crt nvidia-cuda-crt==13.5.37 # crt/host_config.h, which the runtime's own packages lack
case $major in
  11) soname=11.0; headers cuda11 nvidia-cuda-runtime-cu11==11.7.99; include=(-Iwheels/cuda11/nvidia/cuda_runtime/include) ;;
  12) headers cuda12 nvidia-cuda-runtime-cu12==12.8.90; include=(-Iwheels/cuda12/nvidia/cuda_runtime/include) ;;
  *) headers cuda13 nvidia-cuda-runtime==13.0.96; include=(-Iwheels/cuda13/nvidia/cu13/include) ;;
esac
nm -D "$unpacked/lib/libc10.so" > "$out/symbols"
abi=0; grep -q '_ZN3c105ErrorC.*cxx11' "$out/symbols" && abi=1 # the std::string of the build
IFS=. read -r torch_major torch_minor _ <<< "$version"
release=$((torch_major * 100 + torch_minor))
standard=17; [ $release -ge 212 ] && standard=20

echo "libcudart.so.$soname { cuda*; __cuda*; };" > "$out/exports"
gcc -O2 -shared -fPIC -DCUDART_VERSION=$((major * 1000 + minor * 10)) fakegpu.c -o "$out/fake/libcudart.so.$soname" \
  -Wl,-soname,libcudart.so.$soname -Wl,--version-script="$out/exports" -lpthread -ldl
ln -sf libcudart.so.$soname "$out/fake/libcuda.so.1"
ln -sf libcudart.so.$soname "$out/fake/libnvidia-ml.so.1"
g++ -O2 -std=c++$standard -w -D_GLIBCXX_USE_CXX11_ABI=$abi -DTORCH=$release -I"$unpacked/include" "${include[@]}" -Iwheels/crt/nvidia/cu13/include \
  harness.cpp -o "$out/harness" -L"$unpacked/lib" -L"$out/fake" -lc10_cuda -lc10 -l:libcudart.so.$soname -ldl \
  -Wl,-rpath,"$PWD/$out/fake:$PWD/$unpacked/lib" -Wl,--disable-new-dtags -Wl,--no-as-needed
echo "$out/harness (CUDA $cuda)"
