// Softmax attention on the matrix unit. Private to kernels_amx.cc.
//
// Numbers are bfloat16, or in two planes the sum of two of them (16 bits); products of two planes
// leave out that of the low ones. Keys and values are staged kChunkKeys places of the list at a
// time, so that they stay in the second-level cache while all queries of the item pass by.
//
// Bits: chunks, and within them the unit's groups of 32, begin at fixed places of a row's list, and
// a weight outside the row's keys is zero, which changes no sum. So what a row gives depends on its
// keys and their places alone, not on blocks, items or the other queries.

constexpr int kChunkKeys = 256;
constexpr int kGroupKeys = 32;

// The bfloat16 of a and b, a's below b's in each lane; those of what is left in the next plane.
template <int kPlanes>
inline void StorePairs(VecF a, VecF b, Byte* out, std::int64_t plane) {
  const VecU high_a = RoundToBf16(a);
  const VecU high_b = RoundToBf16(b);
  const VecU high = high_a >> 16 | high_b;
  __builtin_memcpy(out, &high, 64);
  if constexpr (kPlanes == 2) {
    const VecU low = RoundToBf16(a - FromBits(high_a)) >> 16 | RoundToBf16(b - FromBits(high_b));
    __builtin_memcpy(out + plane, &low, 64);
  }
}

// How the scratch is divided; sizes in bytes.
struct AttentionParts {
  int dims;     // of a head, rounded up to 32
  int queries;  // rounded up to 16
  constexpr AttentionParts(int head_dim, int n_queries)
      : dims((head_dim + 31) / 32 * 32), queries((n_queries + 15) / 16 * 16) {}
  std::int64_t plane_q() const { return std::int64_t{2} * queries * dims; }
  std::int64_t plane_kv() const { return std::int64_t{2} * kChunkKeys * dims; }
  static constexpr std::int64_t kPlaneP = 2 * 16 * kChunkKeys;
  std::int64_t keys() const { return 2 * plane_q(); }
  std::int64_t values() const { return keys() + 2 * plane_kv(); }
  std::int64_t scores() const { return values() + 2 * plane_kv(); }
  std::int64_t weights() const { return scores() + 4 * 16 * kChunkKeys; }
  std::int64_t sums() const { return weights() + 2 * kPlaneP; }
  std::int64_t mixed() const { return sums() + std::int64_t{4} * queries * dims; }
  std::int64_t most() const { return mixed() + 2 * 1024; }
  std::int64_t total() const { return most() + std::int64_t{4} * queries; }
  std::int64_t bytes() const { return total() + std::int64_t{4} * queries; }
};

std::int64_t AttentionScratch(int head_dim, int n_queries) {
  return AttentionParts(head_dim, n_queries).bytes();
}

// Where the keys and values of a chunk's places lie.
struct Place {
  const float* key;  // of the first dimension
  const float* value;
};

inline int FindPlaces(const AttentionTile& t, int first, Place* places) {
  int key = 0;
  int n = 0;
  for (int r = 0; r < t.n_runs && n < kChunkKeys; ++r) {
    const KeyRun& run = t.runs[r];
    for (int i = first + n > key ? first + n - key : 0; i < run.count && n < kChunkKeys; ++i) {
      const int cell = run.begin + i;
      places[n++] = {run.keys + cell,
                     run.values + static_cast<std::int64_t>(cell) * t.value_stride};
    }
    key += run.count;
  }
  return n;
}

// Tiles of 16 keys: [dims / 32][16 pairs of dimensions][16 keys, 2]
template <int kPlanes>
inline void StageKeys(const AttentionTile& t, const AttentionParts& parts, const Place* places,
                      int n, Byte* out) {
  float gathered[32][16];
  for (int tile = 0; tile * 16 < n; ++tile) {
    const Place* p = places + tile * 16;
    const int count = n - tile * 16 < 16 ? n - tile * 16 : 16;
    bool neighbours = count == 16;
    for (int k = 1; k < count; ++k) neighbours = neighbours && p[k].key == p[0].key + k;
    for (int d = 0; d < parts.dims; d += 32) {
      const int here = t.head_dim - d < 32 ? t.head_dim - d : 32;
      const float* from = p[0].key + static_cast<std::int64_t>(d) * t.cells;
      std::int64_t stride = t.cells;
      if (!neighbours || here < 32) {
        __builtin_memset(gathered, 0, sizeof gathered);
        for (int i = 0; i < here; ++i) {
          const std::int64_t at = static_cast<std::int64_t>(d + i) * t.cells;
          for (int k = 0; k < count; ++k) gathered[i][k] = p[k].key[at];
        }
        from = gathered[0];
        stride = 16;
      }
      Byte* to = out + (tile * (parts.dims / 32) + d / 32) * 1024;
      for (int pair = 0; pair < 16; ++pair) {
        StorePairs<kPlanes>(Load(from + 2 * pair * stride), Load(from + (2 * pair + 1) * stride),
                            to + pair * 64, parts.plane_kv());
      }
    }
  }
}

// Groups of 32 keys: [dims / 16][16 pairs of keys][16 dimensions, 2]
template <int kPlanes>
inline void StageValues(const AttentionTile& t, const AttentionParts& parts, const Place* places,
                        int n, Byte* out) {
  const int tiles = parts.dims / 16;
  for (int key = 0; key < (n + kGroupKeys - 1) / kGroupKeys * kGroupKeys; key += 2) {
    Byte* to = out + (key / kGroupKeys * tiles * 16 + key % kGroupKeys / 2) * 64;
    for (int tile = 0; tile < tiles; ++tile) {
      const int left = t.head_dim - tile * 16;
      const auto load = [&](int k) {
        if (k >= n || left <= 0) return VecF{};
        const float* value = places[k].value + tile * 16;
        return left >= 16 ? Load(value) : LoadPart(value, left);
      };
      StorePairs<kPlanes>(load(key), load(key + 1), to + tile * 1024, parts.plane_kv());
    }
  }
}

// [dims / 32][16 queries][32 dimensions] for each 16 queries
template <int kPlanes>
inline void StageQueries(const AttentionTile& t, const AttentionParts& parts, Byte* out) {
  for (int i = 0; i < parts.queries; ++i) {
    for (int d = 0; d < parts.dims; d += 16) {
      const int left = t.head_dim - d;
      VecF v{};
      if (i < t.n_queries && left > 0) {
        v = left >= 16 ? Load(t.queries[i].q + d) : LoadPart(t.queries[i].q + d, left);
      }
      const std::int64_t tile = std::int64_t{i / 16} * (parts.dims / 32) + d / 32;
      StoreRow<kPlanes>(v, out + tile * 1024 + i % 16 * 64 + d % 32 * 2, parts.plane_q());
    }
  }
}

template <int kSum, int kLeft, int kRight>
inline void MultiplyBf16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
}

// Tiles 0 and 1 += left times two right tiles. Left in tiles 2 and 3 (high and low), right ones in
// 4 to 7.
template <int kPlanes>
inline void MultiplyTwo(const Byte* left, std::int64_t left_stride, std::int64_t left_plane,
                        const Byte* right, std::int64_t right_step, std::int64_t right_plane) {
  LoadMatrix<2>(left, left_stride);
  LoadMatrix<4>(right, 64);
  LoadMatrix<6>(right + right_step, 64);
  MultiplyBf16<0, 2, 4>();
  MultiplyBf16<1, 2, 6>();
  if constexpr (kPlanes == 2) {
    LoadMatrix<3>(left + left_plane, left_stride);
    LoadMatrix<5>(right + right_plane, 64);
    LoadMatrix<7>(right + right_step + right_plane, 64);
    MultiplyBf16<0, 3, 4>();
    MultiplyBf16<1, 3, 6>();
    MultiplyBf16<0, 2, 5>();
    MultiplyBf16<1, 2, 7>();
  }
}

// Scores of 16 queries with the keys of groups [low, high) of a chunk. out: [16, kChunkKeys]
template <int kPlanes>
inline void ScoreGroups(const AttentionParts& parts, const Byte* q, const Byte* keys, int low,
                        int high, float* out) {
  const int tiles = parts.dims / 32;
  for (int group = low; group < high; ++group) {
    asm volatile("tilezero %%tmm0\n\ttilezero %%tmm1" ::);
    for (int d = 0; d < tiles; ++d) {
      MultiplyTwo<kPlanes>(q + d * 1024, 64, parts.plane_q(), keys + (2 * group * tiles + d) * 1024,
                           tiles * 1024, parts.plane_kv());
    }
    StoreMatrixRows<0>(out + group * kGroupKeys, kChunkKeys * 4);
    StoreMatrixRows<1>(out + group * kGroupKeys + 16, kChunkKeys * 4);
  }
}

inline VecF Only(VecF v, int at, int from, int to) {  // lanes [from, to) of places at, at + 1, ...
  constexpr VecI kPlace{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const VecI place = kPlace + at;
  return (place >= from) & (place < to) ? v : VecF{};
}

// Scores of one query at places [from, to) of the chunk -> weights in bfloat16, zero elsewhere in
// [first, last). Brings the query's greatest score and sum up to date and returns what its earlier
// sums shrink by.
template <int kPlanes>
inline float WeighChunk(const float* scores, float scale, int from, int to, int first, int last,
                        float* greatest, float* total, Byte* weights) {
  constexpr std::int64_t kPlane = AttentionParts::kPlaneP;
  const VecF factor = Set(scale);
  const VecF low = Set(-3e38f);
  VecF most = low;
  for (int j = from / 16 * 16; j < to; j += 16) {
    VecF s = Load(scores + j) * factor;
    if (j < from || j + 16 > to) {
      const VecF inside = Only(Set(1.0f), j, from, to);
      s = inside > VecF{} ? s : low;
    }
    most = Max(s, most);
  }
  const float before = *greatest;
  const float now = MaxLane(most);
  *greatest = now > before ? now : before;
  const VecF shift = Set(*greatest);
  VecF sum{};
  for (int j = first; j < last; j += 16) {
    VecF e{};
    if (j + 16 > from && j < to) {
      e = Exp(Load(scores + j) * factor - shift);
      if (j < from || j + 16 > to) e = Only(e, j, from, to);
    }
    sum = sum + e;
    StoreRow<kPlanes>(e, weights + j * 2, kPlane);
  }
  const VecF shrink = Exp(Set(before) - shift);
  *total = *total * shrink[0] + Sum(sum);
  return shrink[0];
}

// sums of 16 queries = sums * shrink + weights . values over groups [low, high).
template <int kPlanes>
inline void MixGroups(const AttentionParts& parts, const Byte* weights, const Byte* values, int low,
                      int high, const float* shrink, Byte* mixed, float* sums) {
  const int tiles = parts.dims / 16;
  for (int tile = 0; tile < tiles; tile += 2) {
    asm volatile("tilezero %%tmm0\n\ttilezero %%tmm1" ::);
    for (int group = low; group < high; ++group) {
      MultiplyTwo<kPlanes>(weights + group * kGroupKeys * 2, kChunkKeys * 2,
                           AttentionParts::kPlaneP, values + (group * tiles + tile) * 1024, 1024,
                           parts.plane_kv());
    }
    StoreMatrix<0>(mixed);
    StoreMatrix<1>(mixed + 1024);
    for (int i = 0; i < 16; ++i) {
      for (int half = 0; half < 2; ++half) {
        float* to = sums + i * parts.dims + (tile + half) * 16;
        const float* add = reinterpret_cast<const float*>(mixed) + half * 256 + i * 16;
        Store(to, Fma(Load(to), Set(shrink[i]), Load(add)));
      }
    }
  }
}

// One chunk for the 16 queries from `first_query` on.
template <int kScorePlanes, int kValuePlanes>
inline void AttendChunk(const AttentionTile& t, const AttentionParts& parts, int first_query,
                        int chunk) {
  Byte* scratch = reinterpret_cast<Byte*>(t.scores);
  const int n = t.n_queries - first_query < 16 ? t.n_queries - first_query : 16;
  const AttentionQuery* queries = t.queries + first_query;
  int low;
  int high;
  Span(queries, n, &low, &high);
  low = low > chunk ? (low - chunk) / kGroupKeys : 0;
  high = (high - chunk < kChunkKeys ? high - chunk + kGroupKeys - 1 : kChunkKeys) / kGroupKeys;
  if (high <= low || high <= 0 || low >= kChunkKeys / kGroupKeys) return;
  float* scores = reinterpret_cast<float*>(scratch + parts.scores());
  Byte* weights = scratch + parts.weights();
  ScoreGroups<kScorePlanes>(parts, scratch + std::int64_t{first_query} * parts.dims * 2,
                            scratch + parts.keys(), low, high, scores);
  float* most = reinterpret_cast<float*>(scratch + parts.most()) + first_query;
  float* total = reinterpret_cast<float*>(scratch + parts.total()) + first_query;
  float shrink[16] = {};
  for (int i = 0; i < n; ++i) {
    int from = queries[i].first_key - chunk;
    int to = queries[i].n_keys - chunk;
    from = from < 0 ? 0 : from;
    to = to > kChunkKeys ? kChunkKeys : to;
    if (from >= to) {  // none of the chunk is its own
      from = 0;
      to = 0;
    }
    shrink[i] = WeighChunk<kValuePlanes>(scores + i * kChunkKeys, t.scale, from, to,
                                         low * kGroupKeys, high * kGroupKeys, most + i, total + i,
                                         weights + i * kChunkKeys * 2);
  }
  for (int i = n; i < 16; ++i) {
    for (int plane = 0; plane < kValuePlanes; ++plane) {
      __builtin_memset(weights + plane * AttentionParts::kPlaneP + i * kChunkKeys * 2, 0,
                       kChunkKeys * 2);
    }
  }
  MixGroups<kValuePlanes>(
      parts, weights, scratch + parts.values(), low, high, shrink, scratch + parts.mixed(),
      reinterpret_cast<float*>(scratch + parts.sums()) + first_query * parts.dims);
}

template <int kScorePlanes, int kValuePlanes>
void AttendMatrix(const AttentionTile& t) {
  const AttentionParts parts(t.head_dim, t.n_queries);
  Byte* scratch = reinterpret_cast<Byte*>(t.scores);
  float* sums = reinterpret_cast<float*>(scratch + parts.sums());
  float* most = reinterpret_cast<float*>(scratch + parts.most());
  float* total = reinterpret_cast<float*>(scratch + parts.total());
  __builtin_memset(sums, 0, static_cast<std::size_t>(parts.queries) * parts.dims * 4);
  for (int i = 0; i < parts.queries; ++i) {
    most[i] = -3e38f;
    total[i] = 0;
  }
  StageQueries<kScorePlanes>(t, parts, scratch);
  ConfigureMatrix(64);
  int low;
  int high;
  Span(t.queries, t.n_queries, &low, &high);
  Place places[kChunkKeys];
  for (int chunk = low / kChunkKeys * kChunkKeys; chunk < high; chunk += kChunkKeys) {
    int n = FindPlaces(t, chunk, places);
    if (n > high - chunk) n = high - chunk;
    // What lies before all queries' windows is staged too and weighs nothing.
    StageKeys<kScorePlanes>(t, parts, places, n, scratch + parts.keys());
    StageValues<kValuePlanes>(t, parts, places, n, scratch + parts.values());
    for (int i = 0; i < t.n_queries; i += 16)
      AttendChunk<kScorePlanes, kValuePlanes>(t, parts, i, chunk);
  }
  ReleaseMatrix();
  for (int i = 0; i < t.n_queries; ++i) {
    const VecF inverse = Set(1.0f / total[i]);
    for (int d = 0; d < t.head_dim; d += 16) {
      const VecF v = Load(sums + i * parts.dims + d) * inverse;
      const int left = t.head_dim - d;
      if (left >= 16) {
        Store(t.queries[i].out + d, v);
      } else {
        StorePart(t.queries[i].out + d, v, left);
      }
    }
  }
}
