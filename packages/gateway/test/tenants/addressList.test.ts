import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { post } from '../startGateway.ts'
import { call, summarize, startTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const listed = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`

let tenants: StartedTenants
let path: string

beforeAll(async () => {
  tenants = await startTenants({ services: { debug: true, trace: true, txpool: true } })
  path = tenants.addApp({ allow: compileAllowList({ addresses: [{ value: listed }] }) }).path
})
afterAll(() => tenants.stop())

interface Sent {
  readonly reason: unknown
  readonly message: string
  readonly forwarded: string
}

const send = async (body: string): Promise<Sent> => {
  tenants.upstream.bodies.length = 0
  const response = await post(path, body)
  const { error } = JSON.parse(response.text) as { error?: { message: string } }
  return {
    reason: (summarize(response) as unknown[])[1],
    message: error?.message ?? '',
    forwarded: tenants.upstream.bodies.join('\n'),
  }
}

const allowed = `{"calls":[{"to":"${listed}"}]}`

describe('a key with an address list', () => {
  test.each([
    ['Calls', `[{"blockStateCalls":[${allowed},{"Calls":[{"to":"${other}"}]}]},"latest"]`],
    ['CALLS', `[{"blockStateCalls":[${allowed},{"CALLS":[{"to":"${other}"}]}]},"latest"]`],
    ['callſ', `[{"blockStateCalls":[${allowed},{"callſ":[{"to":"${other}"}]}]},"latest"]`],
    ['Calls', `[{"blockStateCalls":[${allowed},{"Calls":[{"data":"0x6000"}]}]},"latest"]`],
    [
      'BlockStateCalls',
      `[{"blockStateCalls":[${allowed}],"BlockStateCalls":[{"calls":[{"to":"${other}"}]}]},"latest"]`,
    ],
    ['blocKStateCalls', `[{"blocKStateCalls":[{"calls":[{"to":"${other}"}]}]},"latest"]`],
    ['TO', `[{"blockStateCalls":[{"calls":[{"TO":"${other}"}]}]},"latest"]`],
    ['ſtateOverrides', `[{"blockStateCalls":[{"ſtateOverrides":{"${listed}":{"code":"0x00"}},"calls":[]}]},"latest"]`],
    ['transactions', `[{"blockStateCalls":[${allowed},{"transactions":[{"to":"${other}"}]}]},"latest"]`],
  ])('rejects other addresses in the member %s of eth_simulateV1: %s', async (name, params) => {
    const { reason, message, forwarded } = await send(call('eth_simulateV1', params))
    expect(reason).toBe('address_not_allowed')
    if (!message.includes('repeated or escaped')) expect(message).toContain(JSON.stringify(name))
    expect(forwarded).toBe('')
  })

  test.each([
    ['eth_simulateV1', `[{"blockStateCalls":[${allowed},[null,null,[{"to":"${other}"}]]]},"latest"]`],
    ['eth_simulateV1', `[[[${allowed},{"calls":[{"to":"${other}"}]}]],"latest"]`],
    ['debug_traceCall', `[{"to":"${listed}"},"latest",[{"${listed}":{"code":"0x00"}}]]`],
    ['eth_getLogs', `[[null,null,["${other}"]]]`],
  ])(
    'rejects a list in place of an object of %s, which some nodes read member by member: %s',
    async (method, params) => {
      const { reason, forwarded } = await send(call(method, params))
      expect([reason, forwarded]).toEqual(['address_not_allowed', ''])
    },
  )

  test.each([
    [
      'the delegate of an authorization',
      `{"to":"${listed}","authorizationList":[{"chainId":"0x1","address":"${other}","nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}]}`,
    ],
    ['an unknown member of an authorization', `{"to":"${listed}","authorizationList":[{"Address":"${other}"}]}`],
    ['an unknown member of an access list', `{"to":"${listed}","accessList":[{"address":"${listed}","code":"0x00"}]}`],
  ])('rejects %s in a call object', async (_, object) => {
    for (const params of [`[${object},"latest"]`, `[{"blockStateCalls":[{"calls":[${object}]}]}]`]) {
      const method = params.startsWith('[{"block') ? 'eth_simulateV1' : 'eth_call'
      const { reason, forwarded } = await send(call(method, params))
      expect([reason, forwarded]).toEqual(['address_not_allowed', ''])
    }
  })

  test.each([
    [
      'eth_simulateV1',
      `[{"blockStateCalls":[${allowed},{},{"blockOverrides":{"time":"0x1"},"stateOverrides":{},"calls":[]}],"validation":true,"traceTransfers":false,"returnFullTransactions":true},{"blockHash":"0x01","requireCanonical":true}]`,
    ],
    [
      'eth_call',
      `[{"from":"${other}","to":"${listed}","data":"0x","input":"0x","type":"0x2","accessList":[{"address":"${other}","storageKeys":[]}],"chainId":"0x1"},"latest",null,{"number":"0x1"}]`,
    ],
    [
      'eth_call',
      `[{"to":"${listed}","authorizationList":[{"chainId":"0x1","address":"${listed}","nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}]},"latest"]`,
    ],
    [
      'debug_traceCall',
      `[{"to":"${listed}"},"latest",{"tracer":"callTracer","tracerConfig":{"onlyTopCall":true},"timeout":"5s","blockOverrides":{"number":"0x1"},"stateOverrides":null}]`,
    ],
    ['eth_getLogs', `[{"address":["${listed}"],"topics":[null,["0x01"]],"fromBlock":"0x1","toBlock":"latest"}]`],
  ])('accepts every member of the specification: %s with %s', async (method, params) => {
    const { reason, forwarded } = await send(call(method, params))
    expect([reason, forwarded]).toEqual(['0x1', expect.stringContaining(`"params":${params}`)])
  })

  test.each([
    ['txpool_content', '[]'],
    ['txpool_contentFrom', `["${listed}"]`],
    ['txpool_inspect', '[]'],
    ['txpool_status', '[]'],
  ])('rejects %s, which shows transactions of any address', async (method, params) => {
    const { reason, forwarded } = await send(call(method, params))
    expect([reason, forwarded]).toEqual(['address_not_allowed', ''])
    const other = await post(tenants.addApp().path, call(method, params))
    expect(summarize(other)).toEqual([200, '0x1'])
  })

  test.each(['extra', 'from', '__proto__'])('rejects requests with the member %j', async (name) => {
    const { reason, message, forwarded } = await send(
      `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${listed}"},"latest"],"${name}":1}`,
    )
    expect([reason, forwarded]).toEqual(['address_not_allowed', ''])
    expect(message).toContain(JSON.stringify(name))
  })
})

describe('any key', () => {
  test.each(['Params', 'PARAMS', 'paramſ', 'Method', 'ID', 'Jsonrpc', 'JſonRPC'])(
    'rejects a request with the member %j, which Go reads as another',
    async (name) => {
      const key = tenants.addApp().path
      tenants.upstream.bodies.length = 0
      const body = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[],"${name}":[]}`
      const response = await post(key, body)
      expect(summarize(response)).toEqual([400, 'invalid_request'])
      expect(response.text).toContain(name)
      expect(tenants.upstream.bodies).toEqual([])
    },
  )
})
