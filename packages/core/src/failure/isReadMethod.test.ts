import { repeatables } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { methodNames } from '../schema/methodSlice.ts'
import methods from '../schema/methods.json' with { type: 'json' }
import { isReadMethod } from './isReadMethod.ts'

describe('repeatable', () => {
  // A method that joins the schema fails this test until someone has decided whether it may be sent twice.
  test('is true for every method of the schema but these', () => {
    expect(methodNames.filter((method) => !isReadMethod(method))).toEqual([
      'eth_getFilterChanges',
      'eth_newBlockFilter',
      'eth_newFilter',
      'eth_newPendingTransactionFilter',
      'eth_sendRawTransaction',
      'eth_sendRawTransactionSync',
      'eth_sendTransaction',
      'eth_sign',
      'eth_signTransaction',
      'eth_signTypedData_v4',
      'eth_submitHashrate',
      'eth_submitWork',
      'eth_uninstallFilter',
      'testing_buildBlockV1',
    ])
  })

  test('each row has the name of a method or a namespace, and they are in order', () => {
    const names = Object.keys(methods)
    expect(names).toEqual(names.toSorted())
    for (const name of names) expect(name).toMatch(/^[a-z0-9]+_(?:[A-Za-z0-9]+(?:_v4)?|\*)$/)
  })

  test.each(repeatables.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', ({ method, expect: wanted }) => {
    expect(isReadMethod(method)).toBe(wanted)
  })
})
