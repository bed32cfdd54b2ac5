import { methodNames } from '@keyrail/core'
import { describe, expect, test } from 'vitest'
import { createMethodPolicy } from './createMethodPolicy.ts'

const off = { debug: false, trace: false, txpool: false }
const all = { debug: true, trace: true, txpool: true, developmentMethods: 'all' } as const
const getAllowed = (options: typeof off): string[] => {
  const policy = createMethodPolicy(options)
  return methodNames.filter((name) => policy(name) !== undefined)
}

describe('the method policy', () => {
  // A new method in the schema fails this test until someone decides whether callers may use it.
  test('rejects exactly these methods of the schema, with all options on', () => {
    const rejected = methodNames.filter((name) => !getAllowed(all).includes(name))
    expect(rejected).toEqual([
      'eth_getWork',
      'eth_pendingTransactions',
      'eth_sendTransaction',
      'eth_sign',
      'eth_signTransaction',
      'eth_signTypedData_v4',
      'eth_submitHashrate',
      'eth_submitWork',
      'testing_buildBlockV1',
    ])
  })

  test('allows debug_, trace_ and txpool_ methods only if they are turned on', () => {
    const groups = (names: readonly string[]): string[] => [
      ...new Set(names.map((name) => name.split('_', 1)[0] ?? '')),
    ]
    expect(groups(getAllowed(off))).toEqual(['eth', 'net', 'web3'])
    expect(groups(getAllowed({ ...off, debug: true }))).toEqual(['debug', 'eth', 'net', 'web3'])
    expect(groups(getAllowed({ ...off, trace: true }))).toEqual(['eth', 'net', 'trace', 'web3'])
    expect(groups(getAllowed({ ...off, txpool: true }))).toEqual(['eth', 'net', 'txpool', 'web3'])
  })

  test('exactly these allowed methods are not idempotent', () => {
    const policy = createMethodPolicy(all)
    expect(methodNames.filter((name) => policy(name)?.idempotent === false)).toEqual([
      'eth_getFilterChanges',
      'eth_newBlockFilter',
      'eth_newFilter',
      'eth_newPendingTransactionFilter',
      'eth_sendRawTransaction',
      'eth_sendRawTransactionSync',
      'eth_uninstallFilter',
    ])
  })

  test('only the txpool_ methods that return the whole pool are expensive', () => {
    const policy = createMethodPolicy(all)
    const names = methodNames.filter((name) => name.startsWith('txpool_'))
    expect(names.map((name) => [name, policy(name)?.expensive])).toEqual([
      ['txpool_content', true],
      ['txpool_contentFrom', false],
      ['txpool_inspect', true],
      ['txpool_status', false],
    ])
  })

  test('allows the methods of development nodes only if they are turned on, all under one label', () => {
    for (const name of ['anvil_mine', 'evm_snapshot', 'hardhat_setBalance']) {
      expect(createMethodPolicy({ ...all, developmentMethods: 'reads' })(name)).toBeUndefined()
      expect(createMethodPolicy({ ...off, developmentMethods: 'all' })(name)).toEqual({
        idempotent: false,
        expensive: false,
        weight: 1,
        label: 'node-own',
      })
    }
    for (const name of ['anvil_"x', 'anvil_', 'xanvil_mine', 'anvil_mine\n', `anvil_${'x'.repeat(65)}`])
      expect(createMethodPolicy(all)(name)).toBeUndefined()
  })

  test('offers how a development node mines, as a read', () => {
    for (const developmentMethods of ['reads', 'all'] as const)
      expect(createMethodPolicy({ ...off, developmentMethods })('hardhat_getAutomine')).toMatchObject({
        label: 'hardhat_getAutomine',
        idempotent: true,
      })
    expect(createMethodPolicy(off)('hardhat_getAutomine')).toBeUndefined()
  })

  test('offers the methods of a preset only if it is on', () => {
    expect(createMethodPolicy(all)('zks_L1ChainId')).toBeUndefined()
    const policy = createMethodPolicy({ ...off, presets: ['zksync'] })
    expect(policy('zks_L1ChainId')).toMatchObject({ idempotent: true, label: 'zks_L1ChainId' })
    expect(policy('zks_sendRawTransactionWithDetailedOutput')).toMatchObject({ idempotent: false })
    expect(policy('linea_estimateGas')).toBeUndefined()
  })

  test('offers traces of a preset only with traces', () => {
    expect(createMethodPolicy({ ...off, presets: ['arbitrum'] })('arbtrace_block')).toBeUndefined()
    expect(createMethodPolicy({ ...off, trace: true })('arbtrace_block')).toBeUndefined()
    expect(createMethodPolicy({ ...off, trace: true, presets: ['arbitrum'] })('arbtrace_block')).toMatchObject({
      expensive: true,
    })
  })

  test('offers a method that the config adds: a write, unless the config or the table says otherwise', () => {
    const own = (given: object) => ({ read: false, write: false, ...given })
    const policy = createMethodPolicy({
      ...off,
      own: {
        my_read: own({ read: true }),
        my_call: own({}),
        alchemy_getTokenBalances: own({}),
        eth_sendUserOperation: own({ upstreams: ['bundler'] }),
        debug_traceCall: own({}),
        eth_call: own({}),
      },
    })
    const isRead = (name: string) => policy(name)?.idempotent
    expect(isRead('my_read')).toBe(true)
    expect(isRead('my_call')).toBe(false)
    expect(isRead('alchemy_getTokenBalances')).toBe(true)
    expect(isRead('eth_sendUserOperation')).toBe(false)
    expect(isRead('debug_traceCall')).toBeUndefined()
    expect(policy('eth_call')).toEqual(createMethodPolicy(off)('eth_call'))
    expect(policy('my_other')).toBeUndefined()
  })

  test('a call has the weight of its method, 1 by default', () => {
    const policy = createMethodPolicy({ ...all, weights: { eth_getLogs: 75, debug_traceCall: 300 } })
    expect(['eth_getLogs', 'debug_traceCall', 'eth_call'].map((name) => policy(name)?.weight)).toEqual([75, 300, 1])
  })

  test('the traits of a method do not depend on earlier lookups', () => {
    const policy = createMethodPolicy(all)
    const names = ['eth_call', 'eth_getLogs', 'evm_mine', 'node-own', 'toString', '']
    const alone = new Map(names.map((name) => [name, createMethodPolicy(all)(name)]))
    for (const before of names)
      for (const name of names) {
        policy(before)
        expect(policy(name)).toEqual(alone.get(name))
      }
    expect([...alone].filter(([, traits]) => traits === undefined).map(([name]) => name)).toEqual([
      'node-own',
      'toString',
      '',
    ])
  })
})
