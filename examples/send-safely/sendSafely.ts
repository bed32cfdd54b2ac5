import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Hex } from '@keyrail/core'
import { findFailure, keyrail, safeWrites } from '@keyrail/viem'
import { createWalletClient, keccak256, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getEndpoint } from '../endpoint.ts'
import { getPrivateKey } from '../privateKey.ts'

const outbox = process.env['OUTBOX'] ?? 'outbox.txt'
const [to = '0x000000000000000000000000000000000000dEaD', ether = '0.001'] = process.argv.slice(2)

// If the response is lost, the transport looks the transaction up by its hash, and sends the same bytes again if no node has it.
const transport = keyrail({ ...getEndpoint(), safeWrites: safeWrites({ keccak256, resends: 2 }) })
const client = createWalletClient({ account: privateKeyToAccount(getPrivateKey()), transport }).extend(publicActions)

// The transaction is signed once and saved before it is sent. If this program stops, the next run sends the same bytes, which can pay only once.
if (existsSync(outbox)) console.log('Resuming the transaction of an earlier run')
else {
  const request = await client.prepareTransactionRequest({ to: to as Hex, value: parseEther(ether), chain: null })
  writeFileSync(`${outbox}.part`, await client.signTransaction({ ...request, chain: null }), { flush: true })
  renameSync(`${outbox}.part`, outbox)
}

try {
  const hash = await client.sendRawTransaction({ serializedTransaction: readFileSync(outbox, 'utf8') as Hex })
  console.log(`Sent as ${hash}`)
  const { blockNumber, status } = await client.waitForTransactionReceipt({ hash })
  rmSync(outbox)
  console.log(`${status === 'success' ? 'Paid' : 'Reverted'} in block ${blockNumber}`)
} catch (error) {
  const failure = findFailure(error)
  if (failure?.kind === 'txRejected') {
    // The node rejected it for good, so the next run can sign another one.
    rmSync(outbox)
    console.error(`Not paid. ${failure.message}`)
  } else {
    console.error(`Unconfirmed: ${failure?.message ?? String(error)}`)
    console.error('Run this again to send the same transaction.')
  }
  process.exitCode = 1
}
