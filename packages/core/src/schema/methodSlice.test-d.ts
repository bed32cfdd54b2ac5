import { expectTypeOf, test } from 'vitest'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { methodNames } from './methodSlice.ts'

test('every method of EthereumRpc is listed, and nothing else', () => {
  expectTypeOf<(typeof methodNames)[number]>().toEqualTypeOf<keyof EthereumRpc>()
})
