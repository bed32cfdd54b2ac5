import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { ethersSubject } from '@keyrail/core/test/ethersFace.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { KeyrailProvider } from '../src/index.ts'

testAdapter(
  ethersSubject('@keyrail/ethers', (target) => ({
    provider: new KeyrailProvider(targetOptions(target)),
    aborts: true,
  })),
  { everyFace: false },
)
