import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { web3Subject } from '@keyrail/core/test/web3Face.ts'
import { KeyrailProvider } from '../src/index.ts'

testAdapter(
  web3Subject('@keyrail/web3', (target) => {
    const provider = new KeyrailProvider(targetOptions(target))
    return { provider, aborts: true, close: provider.disconnect }
  }),
  { everyFace: false },
)
