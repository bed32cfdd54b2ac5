import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { viemSubject } from '@keyrail/core/test/viemFace.ts'
import { keyrail } from '../src/index.ts'

testAdapter(
  viemSubject('@keyrail/viem', (target) => ({
    transport: keyrail(targetOptions({ ...target, signal: undefined })),
  })),
  { everyFace: false },
)
