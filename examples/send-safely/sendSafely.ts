import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isKeyrailError } from '@keyrail/core'
import type { Hex, KeyrailError } from '@keyrail/core'
import { keyrail, safeWrites } from '@keyrail/viem'
import { BaseError, createWalletClient, keccak256, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { address } from '../address.ts'
import { privateKey } from '../privateKey.ts'

const outbox = process.env['OUTBOX'] ?? 'outbox.txt'
const [to = '0x000000000000000000000000000000000000dEaD', ether = '0.001'] = process.argv.slice(2)

// If the response is lost, the transport looks the transaction up by its hash, and sends the same bytes again if no node has it.
const transport = keyrail({ ...address(), safeWrites: safeWrites({ keccak256, resends: 2 }) })
const client = createWalletClient({ account: privateKeyToAccount(privateKey()), transport }).extend(publicActions)

// Signed once, and kept before it goes out. Whatever ends this program, the next run sends the same bytes, which can pay only once.
if (existsSync(outbox)) console.log('Going on with what an earlier run has signed')
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
  const failure = failureOf(error)
  if (failure?.kind === 'txRejected') {
    // The node has looked at it and will never take it: another may be signed.
    rmSync(outbox)
    console.error(`Not paid. ${failure.message}`)
  } else {
    console.error(`Not known to be paid: ${failure?.message ?? String(error)}`)
    console.error('Run this again, and the same transaction is sent.')
  }
  process.exitCode = 1
}

/** The failure of the transport beneath an error of viem. */
function failureOf(error: unknown): KeyrailError | undefined {
  const found = error instanceof BaseError ? error.walk((one) => isKeyrailError(Object(one).failure)) : undefined
  return (found as { failure?: KeyrailError } | null | undefined)?.failure
}
