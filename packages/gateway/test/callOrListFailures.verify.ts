import { expect, test } from 'vitest'
import { fromSecond, send } from './callOrList.ts'
import { heldOutNodeFailures, stall } from './heldOutNodeFailures.ts'
import { createCall, nodeStates } from './nodeFailures.ts'
import type { NodeFailure } from './nodeFailures.ts'
import { wrongResults } from './wrongResults.ts'

// Those of `nodeFailures` are in callOrList.test.ts.
const failures: readonly NodeFailure[] = [
  ...heldOutNodeFailures.filter(({ behave }) => behave !== stall),
  ...wrongResults,
  ...Object.values(nodeStates),
]

test.each(failures)('a call alone and as a list of one goes to another node if $name', async (failure) => {
  const { behave, chainId: firstChainId, head = 100 } = failure
  const scenario = { nodes: [behave, fromSecond], firstChainId, heads: [head, 100], calls: [createCall(failure, 1)] }
  const alone = await send(scenario, false)
  expect(await send(scenario, true)).toEqual(alone)
  expect(alone.responses).toEqual([{ jsonrpc: '2.0', id: 1, result: 'second' }])
})
