import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { createWeb3Subject } from '@keyrail/core/test/createWeb3Subject.ts'
import { KeyrailProvider } from '../src/index.ts'

testAdapter(
  createWeb3Subject('@keyrail/web3', (target) => {
    const provider = new KeyrailProvider(targetOptions(target))
    return { provider, aborts: true, close: provider.disconnect }
  }),
  { allApis: false },
)
