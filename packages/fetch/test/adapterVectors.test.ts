import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { createRequestSubject } from '@keyrail/core/test/createTestClient.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { keccak256 } from 'viem'
import * as client from '../src/index.ts'

testAdapter(
  createRequestSubject<client.Client>(
    '@keyrail/fetch',
    (target) =>
      client.createClient({
        ...targetOptions({ ...target, signal: undefined }),
        safeWrites: client.safeWrites({ keccak256 }),
      }),
    client,
  ),
)
