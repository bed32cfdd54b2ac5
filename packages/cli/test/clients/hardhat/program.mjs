// Uses a service through Hardhat: its provider, its viem clients and Ignition. Prints what it did, one word a line.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { buildModule } from '@nomicfoundation/ignition-core'
import hre from 'hardhat'

const artifact = JSON.parse(readFileSync(process.env.ARTIFACT, 'utf8'))
const connection = await hre.network.create('keyrail')
const { provider, viem, ignition } = connection
const chain = { id: Number(await provider.request({ method: 'eth_chainId' })), name: 'keyrail' }
const client = await viem.getPublicClient({ chain })
const [wallet] = await viem.getWalletClients({ chain })

const block = await client.getBlock()
assert.equal((await client.getBlock({ blockHash: block.hash })).number, block.number)
assert.notEqual(await client.getCode({ address: process.env.TOKEN }), undefined)
console.log('reads')

const filter = await client.createBlockFilter()
const hash = await wallet.sendTransaction({ to: process.env.TOKEN, value: 0n, data: '0x18160ddd' })
const receipt = await client.waitForTransactionReceipt({ hash })
assert.equal(receipt.status, 'success')
console.log('writes')

assert.ok((await client.getFilterChanges({ filter })).includes(receipt.blockHash))
assert.equal(await client.uninstallFilter({ filter }), true)
console.log('filters')

// The module asks for five confirmations, which never come on a chain that mines one block a transaction, unless Ignition knows that.
const module = buildModule('Token', (builder) => ({ token: builder.contract('Token', artifact) }))
const { token } = await ignition.deploy(module, { displayUi: false })
assert.notEqual(await client.getCode({ address: token.address }), undefined)
console.log('ignition')

await connection.close()
