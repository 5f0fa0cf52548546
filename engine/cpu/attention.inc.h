// Softmax attention of a few queries over runs of keys. Private to the kernels_*.cc files.
//
// Bits: a score is one sum over the head's dimensions in order; a weight depends on its score and
// the greatest one; the weights are added in lanes by the key's place behind first_key; an output
// is one sum over the keys in order. None of it depends on where a key lies in its block, or on
// the other queries.

constexpr int kScoreQueries = kLanes == 16 ? 12 : 6;
constexpr int kValueQueries = 4;
constexpr int kValueVectors = kLanes == 16 ? 4 : 2;

// Scores of kQueries queries with one vector of keys.
template <int kQueries>
inline void ScoreVector(const AttentionQuery* queries, const float* keys, int cells, int head_dim,
                        float scale, VecF* out) {
  VecF sum[kQueries] = {};
  for (int d = 0; d < head_dim; ++d) {
    const VecF key = Load(keys + static_cast<std::int64_t>(d) * cells);
    for (int i = 0; i < kQueries; ++i) sum[i] = Fma(Set(queries[i].q[d]), key, sum[i]);
  }
  for (int i = 0; i < kQueries; ++i) out[i] = sum[i] * Set(scale);
}

// All scores of keys [low, high) for kQueries queries.
template <int kQueries>
inline void ScoreRuns(const AttentionTile& t, const AttentionQuery* queries, int low, int high,
                      float* scores) {
  VecF out[kQueries];
  int key = 0;  // place of the run's first key
  for (int r = 0; r < t.n_runs && key < high; ++r) {
    const KeyRun& run = t.runs[r];
    const int from = run.begin + (low > key ? low - key : 0);
    const int to = run.begin + (high - key < run.count ? high - key : run.count);
    float* row = scores + (key - run.begin);  // row[cell] is the cell's score
    for (int cell = from / kLanes * kLanes; cell < to; cell += kLanes) {
      ScoreVector<kQueries>(queries, run.keys + cell, t.cells, t.head_dim, t.scale, out);
      const int skip = cell < from ? from - cell : 0;
      const int take = (to - cell < kLanes ? to - cell : kLanes) - skip;
      for (int i = 0; i < kQueries; ++i) {
        float* to_scores = row + i * t.score_stride + cell;
        if (take == kLanes) {
          Store(to_scores, out[i]);
        } else {
          float lanes[kLanes];
          Store(lanes, out[i]);
          for (int l = skip; l < skip + take; ++l) to_scores[l] = lanes[l];
        }
      }
    }
    key += run.count;
  }
}

// Scores -> weights e^(score - greatest), in place; returns their sum.
inline float Weigh(float* scores, int n) {
  VecF most = Set(scores[0]);
  int j = 0;
  for (; j + kLanes <= n; j += kLanes) most = Max(Load(scores + j), most);
  float greatest = MaxLane(most);
  for (; j < n; ++j) greatest = scores[j] > greatest ? scores[j] : greatest;
  const VecF shift = Set(greatest);
  VecF sum{};
  for (j = 0; j + kLanes <= n; j += kLanes) {
    const VecF e = Exp(Load(scores + j) - shift);
    Store(scores + j, e);
    sum = sum + e;
  }
  if (j < n) {
    float lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = l < n - j ? scores[j + l] - greatest : -1000.0f;
    const VecF e = Exp(Load(lanes));
    StorePart(scores + j, e, n - j);
    sum = sum + e;
  }
  return Sum(sum);
}

// out += weights . values over keys [low, high), for kQueries queries and kVectors vectors of
// dimensions. Weights outside a query's own keys are zero.
template <int kQueries, int kVectors>
inline void AddValues(const AttentionTile& t, int low, int high, const float* weights, int dim,
                      VecF (&sum)[kQueries][kVectors]) {
  int key = 0;
  for (int r = 0; r < t.n_runs && key < high; ++r) {
    const KeyRun& run = t.runs[r];
    const int from = low > key ? low - key : 0;
    const int to = high - key < run.count ? high - key : run.count;
    const float* values = run.values + static_cast<std::int64_t>(run.begin) * t.value_stride + dim;
    for (int i = from; i < to; ++i) {
      const float* value = values + static_cast<std::int64_t>(i) * t.value_stride;
      VecF v[kVectors];
      for (int b = 0; b < kVectors; ++b) v[b] = Load(value + b * kLanes);
      for (int a = 0; a < kQueries; ++a) {
        const VecF weight = Set(weights[a * t.score_stride + key + i]);
        for (int b = 0; b < kVectors; ++b) sum[a][b] = Fma(weight, v[b], sum[a][b]);
      }
    }
    key += run.count;
  }
}

template <int kQueries, int kVectors>
inline void MixValues(const AttentionTile& t, const AttentionQuery* queries, int low, int high,
                      const float* weights, const float* inverse, int dim) {
  VecF sum[kQueries][kVectors] = {};
  AddValues<kQueries, kVectors>(t, low, high, weights, dim, sum);
  for (int a = 0; a < kQueries; ++a) {
    for (int b = 0; b < kVectors; ++b) {
      const int left = t.head_dim - dim - b * kLanes;
      const VecF v = sum[a][b] * Set(inverse[a]);
      float* out = queries[a].out + dim + b * kLanes;
      if (left >= kLanes) {
        Store(out, v);
      } else if (left > 0) {
        StorePart(out, v, left);
      }
    }
  }
}

template <int kQueries>
inline void MixHead(const AttentionTile& t, const AttentionQuery* queries, int low, int high,
                    const float* weights, const float* inverse) {
  int dim = 0;
  for (; dim + kValueVectors * kLanes <= t.head_dim; dim += kValueVectors * kLanes) {
    MixValues<kQueries, kValueVectors>(t, queries, low, high, weights, inverse, dim);
  }
  for (; dim < t.head_dim; dim += kLanes) {
    MixValues<kQueries, 1>(t, queries, low, high, weights, inverse, dim);
  }
}

// The keys that any of n queries sees: [low, high).
inline void Span(const AttentionQuery* queries, int n, int* low, int* high) {
  *low = queries[0].first_key;
  *high = queries[0].n_keys;
  for (int i = 1; i < n; ++i) {
    if (queries[i].first_key < *low) *low = queries[i].first_key;
    if (queries[i].n_keys > *high) *high = queries[i].n_keys;
  }
}

inline void ScoreAll(const AttentionTile& t) {
  int i = 0;
  int low;
  int high;
  for (; i + kScoreQueries <= t.n_queries; i += kScoreQueries) {
    Span(t.queries + i, kScoreQueries, &low, &high);
    ScoreRuns<kScoreQueries>(t, t.queries + i, low, high, t.scores + i * t.score_stride);
  }
  for (; i + 3 <= t.n_queries; i += 3) {
    Span(t.queries + i, 3, &low, &high);
    ScoreRuns<3>(t, t.queries + i, low, high, t.scores + i * t.score_stride);
  }
  for (; i < t.n_queries; ++i) {
    Span(t.queries + i, 1, &low, &high);
    ScoreRuns<1>(t, t.queries + i, low, high, t.scores + i * t.score_stride);
  }
}

void Attend(const AttentionTile& t) {
  ScoreAll(t);
  for (int i = 0; i < t.n_queries; i += kValueQueries) {
    const int n = t.n_queries - i < kValueQueries ? t.n_queries - i : kValueQueries;
    float* scores = t.scores + i * t.score_stride;
    int low;
    int high;
    Span(t.queries + i, n, &low, &high);
    float inverse[kValueQueries];
    for (int a = 0; a < n; ++a) {
      const AttentionQuery& query = t.queries[i + a];
      float* row = scores + a * t.score_stride;
      // Adding a zero weight changes no bit of a sum, so queries of unlike ends can walk together.
      for (int j = low; j < query.first_key; ++j) row[j] = 0;
      for (int j = query.n_keys; j < high; ++j) row[j] = 0;
      inverse[a] = 1.0f / Weigh(row + query.first_key, query.n_keys - query.first_key);
    }
    if (n == kValueQueries) {
      MixHead<kValueQueries>(t, t.queries + i, low, high, scores, inverse);
    } else if (n == 3) {
      MixHead<3>(t, t.queries + i, low, high, scores, inverse);
    } else {
      for (int a = 0; a < n; ++a) {
        const AttentionQuery* query = t.queries + i + a;
        MixHead<1>(t, query, query->first_key, query->n_keys, scores + a * t.score_stride,
                   inverse + a);
      }
    }
  }
}
