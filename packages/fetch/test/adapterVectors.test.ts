import type { Hex } from '@keyrail/core'
import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { adapters } from '@keyrail/core/test/adapterVectors.ts'
import { requestSubject } from '@keyrail/core/test/requestFace.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { keccak256 } from 'viem'
import { call, createClient, getBalance, getBlockNumber, sendRawTransaction } from '../src/index.ts'

const { contract } = adapters.node

testAdapter(
  requestSubject('@keyrail/fetch', (target) => {
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
  }),
)
