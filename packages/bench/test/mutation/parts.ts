/** A part of the code whose tests `npm run measure -- mutate` measures. */
export interface MutationPart {
  readonly package: 'core' | 'gateway'
  /** The files that are changed, relative to the package. No commas, which separate them on Stryker's command line. */
  readonly mutate: readonly string[]
  /** The test files that may notice a change, relative to the package, the fastest first: the first test that fails ends a run. */
  readonly tests: readonly string[]
  /** Cases per fuzz test. @default the number in each test */
  readonly fuzzCases?: number
  /** Runs only tests whose full name matches. @default all */
  readonly testNamePattern?: RegExp
}

/** The parts, by the name that `npm run measure -- mutate <part>` takes. */
export const mutationParts: Readonly<Record<string, MutationPart>> = {
  core: {
    package: 'core',
    mutate: [
      ...[
        'batch',
        'endpoint/batchCap',
        'endpoint/batchLimit',
        'retry',
        'budget',
        'endpoint/budgetPace',
        'endpoint/tokenBucket',
      ].map((file) => `src/transport/${file}.ts`),
      'src/message/readBatchResponse.ts',
      ...['classify', 'phrase', 'isReadMethod', 'isRejectedBeforeRun', 'parseRetryAfter', 'createFailure'].map(
        (file) => `src/failure/${file}.ts`,
      ),
    ],
    tests: [
      'src/failure/isReadMethod.test.ts',
      'src/failure/isRejectedBeforeRun.test.ts',
      'src/transport/endpoint/tokenBucket.test.ts',
      'src/failure/parseRetryAfter.test.ts',
      'src/transport/endpoint/batchLimit.test.ts',
      'src/transport/endpoint/batchCap.test.ts',
      'src/transport/endpoint/budgetPace.test.ts',
      'src/transport/options.test.ts',
      'src/transport/retry.test.ts',
      'src/transport/batch.test.ts',
      'src/message/readBatchResponse.test.ts',
      'src/failure/createFailure.test.ts',
      'src/transport/budget.test.ts',
      'src/failure/classify.test.ts',
      'src/transport/batchProperty.test.ts',
    ],
  },
  limits: {
    package: 'gateway',
    // Only files without I/O.
    mutate: [
      'quotaCounter',
      'shardHealth',
      'ledger',
      'createSeeds',
      'createSeenQuotas',
      'createReturns',
      'createDegradedMode',
      'redisQuota',
      'reservation',
    ].map((file) => `src/usage/limits/${file}.ts`),
    tests: [
      'quotaCounter.test',
      'shardHealth.test',
      'createReturns.test',
      'createSeenQuotas.test',
      'createDegradedMode.test',
      'createSeeds.test',
      'redisQuota.test',
      'reservation.test',
      'ledger.test',
      'reservationProperty.test',
      'redisQuotaProperty.test',
    ].map((file) => `src/usage/limits/${file}.ts`),
    fuzzCases: 200,
  },
  metering: {
    package: 'gateway',
    // Only files without I/O.
    mutate: [
      ...['createMeterBuffer', 'usagePlan', 'createFailureLog', 'usageCounts', 'latencyBuckets'].map(
        (file) => `src/usage/metering/${file}.ts`,
      ),
      'src/lib/time.ts',
    ],
    tests: [
      'src/usage/metering/usageCounts.test.ts',
      'src/usage/metering/latencyBuckets.test.ts',
      'src/usage/metering/createFailureLog.test.ts',
      'src/usage/metering/usagePlan.test.ts',
      'src/usage/metering/createMeterBuffer.test.ts',
    ],
    fuzzCases: 100,
  },
  jwt: {
    package: 'gateway',
    mutate: ['src/auth/jwt/!(*.test).ts'],
    tests: [
      'src/auth/jwt/createJwtCache.test.ts',
      'src/auth/jwt/verifyJwt.test.ts',
      'src/auth/jwt/importJwtKey.test.ts',
    ],
    fuzzCases: 200,
  },
  allow: {
    package: 'gateway',
    mutate: ['src/auth/allowList/!(*.test).ts'],
    tests: [
      'src/auth/allowList/allowListEntries.test.ts',
      'src/auth/allowList/findCallAddresses.test.ts',
      'src/auth/allowList/compileAllowList.test.ts',
      'src/auth/allowList/originRule.test.ts',
      'src/lib/ip/ipRange.test.ts',
      'src/auth/allowList/hasAmbiguousName.test.ts',
      'src/auth/allowList/parseTransactionTargets.test.ts',
    ],
    fuzzCases: 1_000,
  },
  batch: {
    package: 'gateway',
    mutate: ['src/proxy/upstream/runCalls.ts', 'src/proxy/upstream/forward.ts', 'src/proxy/request/parseBody.ts'],
    tests: ['src/proxy/request/parseBody.test.ts', 'test/batches.test.ts', 'test/sharedReads.test.ts'],
    fuzzCases: 500,
  },
  roles: {
    package: 'gateway',
    mutate: [
      'src/control/roles.ts',
      'src/control/authorizeRoute.ts',
      'src/control/account/actingAccount.ts',
      'src/control/changeWithAudit.ts',
    ],
    tests: ['access', 'roles', 'teams', 'secondFactor'].map((file) => `test/control/${file}.test.ts`),
  },
}

/** The environment variable that passes the name of the part to Vitest's workers. */
export const partVariable = 'KEYRAIL_MUTATION_PART'
