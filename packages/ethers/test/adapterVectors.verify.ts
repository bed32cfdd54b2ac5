import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { createEthersSubject } from '@keyrail/core/test/createEthersSubject.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { KeyrailProvider } from '../src/index.ts'

testAdapter(
  createEthersSubject('@keyrail/ethers', (target) => ({
    provider: new KeyrailProvider(targetOptions(target)),
    aborts: true,
  })),
  { allApis: false },
)
