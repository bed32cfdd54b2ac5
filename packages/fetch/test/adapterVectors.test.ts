import type { Hex } from '@keyrail/core'
import { arguedFor, facesOf, runAdapterCase } from '@keyrail/core/test/adapterVectors.ts'
import { requestSubject } from '@keyrail/core/test/requestFace.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { adapters } from '@keyrail/vectors'
import { keccak256 } from 'viem'
import { describe, expect, test } from 'vitest'
import { call, createClient, getBalance, getBlockNumber, sendRawTransaction } from '../src/index.ts'

const { contract } = adapters.node

const subject = requestSubject('@keyrail/fetch', (target) => {
  const client = createClient({ ...targetOptions({ ...target, signal: undefined }), keccak256 })
  return {
    client: client as never,
    reads: {
      blockNumber: () => getBlockNumber(client),
      balance: (address) => getBalance(client, { address: address as Hex }),
      contractRead: () => call(client, { to: contract.address as Hex, data: contract.call as Hex }),
      send: (raw) => sendRawTransaction(client, { transaction: raw as Hex }),
    },
  }
})

describe.each(adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', (oneCase) => {
  test.each(facesOf(oneCase))('through the %s face', async (face) => {
    const { problems, leaks } = await runAdapterCase(subject, oneCase, { face })
    expect({ problems, leaks }).toEqual({
      problems: arguedFor(oneCase.name, subject.name, face)?.problems ?? [],
      leaks: [],
    })
  })
})
