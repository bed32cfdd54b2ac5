/** A program that measures or stresses Keyrail for minutes or hours. */
export interface Measurement {
  /** What it shows, and when it fails. */
  readonly shows: string
  /** How long it takes by default. */
  readonly takes: string
  /** Its most useful options. */
  readonly options: string
  /** The path of the program, from the top of the repository. */
  readonly program: string
  /** Further arguments of Node. */
  readonly nodeArguments?: readonly string[]
  /** `built`: it measures the built packages instead of the sources. @default sources */
  readonly code?: 'built'
}

/** The measurements, by the name that `npm run measure -- NAME` takes. */
export const measurements: Readonly<Record<string, Measurement>> = {
  soak: {
    shows: '200,000 calls of the SDK through random faults. Fails if one is lost, mixed up, late or sent twice.',
    takes: 'some minutes',
    options: '`--calls N`, `--seed N`, `--http-client fetch`',
    program: 'packages/bench/test/sdk/soak.ts',
    nodeArguments: ['--expose-gc'],
  },
  'soak:logs': {
    shows:
      'An export of a million logs of a faulty node, with interruptions and kills. Fails if a log is missing or duplicated, or memory exceeds 200 MB.',
    takes: 'some minutes',
    options: '`--blocks N`, `--seed N`, `--format csv`, `--healthy`',
    program: 'packages/bench/test/logs/soak.ts',
  },
  'soak:subscriptions': {
    shows:
      '60 subscribers through 1,000 blocks and 30 reorganizations, with killed nodes and instances. Fails if one does not get exactly the chain.',
    takes: 'half an hour',
    options: '`--blocks N`, `--seed N`, `--nodes ws`, `--geth PATH_OF_BINARY`',
    program: 'packages/bench/test/subscriptions/soak.ts',
  },
  'soak:service': {
    shows:
      'Three instances on PostgreSQL and Redis under load, while instances, databases and nodes fail and configs reload. Fails if a limit is exceeded, a call or a count is lost without a documented reason, or memory or descriptors grow. A good run is written to [SOAK.md](SOAK.md).',
    takes: '30 minutes',
    options: '`--minutes N`, `--seed N`',
    program: 'packages/bench/test/service/soak.ts',
  },
  scale: {
    shows:
      'Three instances on PostgreSQL and Redis under load, with failures. Fails if a bound of the [guarantees](../../docs/service/guarantees.md) is missed.',
    takes: 'some minutes',
    options: '`--only SCENARIO`',
    program: 'packages/bench/test/scale/main.ts',
  },
  'hostile-key': {
    shows:
      'A service under a memory limit of 768 MB, with one key that attacks it beside 50 ordinary callers. Fails if the service ends or uses more, if the ordinary calls become more than three times slower, or if an ordinary subscription misses something.',
    takes: '15 minutes',
    options: '`--minutes N`',
    program: 'packages/bench/test/hostileKey/main.ts',
  },
  fuzz: {
    shows: 'Random and nearly valid input to every parser of the gateway. Fails at the first one that breaks a rule.',
    takes: 'a minute',
    options: '`--minutes N`, `--only PARSER`, `--seed N`',
    program: 'packages/bench/test/fuzz/main.ts',
  },
  store: {
    shows:
      'The chain store under a million random requests to two stores on one file, while the tail of the chain is reorganized, rows are evicted, and, in a second run, damaged; beside 20 processes that are killed while they use the file; what a hit and a log cost; and the syncs of Ponder and of a model of Graph Node through the service. Fails if a result is wrong, if a node is asked for more than the caller was, if a call of a second sync needs a node although it ends at a final block, or if something costs more than it should. With `--erpc`, the same syncs through eRPC are written beside them to [STORE.md](STORE.md).',
    takes: 'an hour',
    options:
      '`--requests N`, `--seed N`, `--only fuzz,damage,kill,cost,sync,ponder`, `--blocks N`, `--erpc PATH_OF_BINARY --version VERSION`',
    program: 'packages/bench/test/store/main.ts',
  },
  confirm: {
    shows:
      'What a confirmed read costs beside one that is not, in calls at nodes and in latency. Fails if it costs more calls at nodes than it should.',
    takes: 'a minute',
    options: '`--calls N`',
    program: 'packages/bench/test/confirm/main.ts',
  },
  mutate: {
    shows:
      'Mutation tests: changes a part of the code in a thousand small ways, and fails if tests notice less than 85 % of them.',
    takes: 'an hour or more',
    options: 'the part: `core` (the default), `limits`, `metering`, `jwt`, `allow`, `batch` or `roles`',
    program: 'packages/bench/test/mutation/main.ts',
  },
  bench: {
    shows:
      'What a call costs in time, CPU and memory, beside bare `node:http` and other libraries. Written row by row to [RESULTS.md](RESULTS.md).',
    takes: 'some minutes for each row, hours for all',
    options: '`--only ROW,ROW`, `--rounds N`, `--peers`',
    program: 'packages/bench/src/main.ts',
    code: 'built',
  },
  beside: {
    shows:
      'What the service, the SDK and the Python package cost in CPU beside another checkout, for example that of an older commit. Fails if a median is above 1.05. Run `npm run setup && npm run build` in the other checkout first.',
    takes: '20 minutes',
    options: '`PATH_OF_CHECKOUT`, `--rounds N`, `--turns N`, `--only gateway,sdk,python`',
    program: 'packages/bench/test/beside/main.ts',
    code: 'built',
  },
  peers: {
    shows: 'What other libraries do when a server misbehaves in 93 ways. Written to [PEERS.md](PEERS.md).',
    takes: 'some minutes',
    options: 'none',
    program: 'packages/bench/test/peerTable/main.ts',
  },
  'peers:erpc': {
    shows: 'What eRPC does when one of two nodes fails. Written to [FAILOVER.md](FAILOVER.md).',
    takes: 'some minutes',
    options: '`PATH_OF_BINARY VERSION`',
    program: 'packages/bench/test/failover/main.ts',
  },
  'peers:geth': {
    shows:
      'The conversations of the execution-apis tests with a geth, directly and through Keyrail. Written to [GETH.md](GETH.md).',
    takes: 'some minutes',
    options: '`PATH_OF_GETH PATH_OF_TESTS VERSION_OF_TESTS`',
    program: 'packages/bench/test/geth/main.ts',
  },
}
