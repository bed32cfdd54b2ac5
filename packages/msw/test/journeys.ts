import type { Hex } from '@keyrail/core'
import { revertsAbi, tokenAbi } from '@keyrail/contracts'
import { KeyrailProvider as EthersProvider } from '@keyrail/ethers'
import {
  createClient,
  decodeReceipt,
  getBlock,
  getLogs,
  getTransaction,
  isKeyrailError,
  waitForTransactionReceipt,
} from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { KeyrailProvider as Web3Provider } from '@keyrail/web3'
import { Contract, isError, Wallet } from 'ethers'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as chain } from 'viem/chains'
import { Web3 } from 'web3'

/** The node and the contracts that a journey uses. */
export interface JourneyNode {
  readonly url: string
  /** The key of an account with ether and 1,000 tokens. */
  readonly privateKey: Hex
  readonly token: Hex
  readonly reverts: Hex
}

/** The result of each step. The steps whose names start with `error` have the decoded failure. */
export type Steps = Readonly<Record<string, unknown>>

/** The same steps with one library: reads, transactions, receipts, events and failures. */
export type Journey = (node: JourneyNode) => Promise<Steps>

const friend: Hex = `0x${'ab'.repeat(20)}`
const unauthorized = [friend, 7n, 'not you'] as const
const caught = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => ({ result: value }),
    (error: unknown) => error,
  )

const byFetch: Journey = async ({ url, privateKey, token, reverts }) => {
  const client = createClient({ url })
  const account = privateKeyToAccount(privateKey)
  const encode = (functionName: string, args: readonly unknown[]): Hex =>
    encodeFunctionData({ abi: [...tokenAbi, ...revertsAbi], functionName, args } as never)
  const sendRaw = async (to: Hex, value: bigint, data: Hex): Promise<Hex> => {
    const nonce = Number(await client.eth_getTransactionCount(account.address, 'pending'))
    const gas = BigInt(
      await client.eth_estimateGas({ from: account.address, to, value: `0x${value.toString(16)}`, data }),
    )
    const fee = BigInt(await client.eth_gasPrice()) * 2n
    return client.eth_sendRawTransaction(
      await account.signTransaction({
        type: 'eip1559',
        chainId: chain.id,
        nonce,
        gas,
        to,
        value,
        data,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: 1n,
      }),
    )
  }
  const failure = async (call: Promise<unknown>): Promise<unknown> => {
    const error = await caught(call)
    return isKeyrailError(error) ? { kind: error.kind, data: error.rpcError?.data } : error
  }
  const sent = await sendRaw(friend, 5n, '0x')
  const receipt = await waitForTransactionReceipt(client, { hash: sent, pollingIntervalMs: 10 })
  const moved = await sendRaw(token, 0n, encode('transfer', [friend, 3n]))
  const { blockNumber } = await waitForTransactionReceipt(client, { hash: moved, pollingIntervalMs: 10 })
  const steps = {
    chainId: await client.eth_chainId(),
    version: await client.net_version(),
    syncing: await client.eth_syncing(),
    wireBlock: await client.eth_getBlockByNumber('latest', false),
    fullBlock: await client.eth_getBlockByNumber('latest', true),
    wireTransaction: await client.eth_getTransactionByHash(sent),
    wireReceipt: await client.eth_getTransactionReceipt(moved),
    wireLogs: await client.eth_getLogs({
      address: token,
      fromBlock: `0x${blockNumber.toString(16)}`,
      toBlock: 'latest',
    }),
    block: await getBlock(client),
    transaction: await getTransaction(client, { hash: moved }),
    receipt,
    decodedReceipt: decodeReceipt((await client.eth_getTransactionReceipt(moved))!),
    logs: await getLogs(client, { address: token, fromBlock: blockNumber, toBlock: 'latest' }),
    noLogs: await getLogs(client, { address: friend, fromBlock: 0n, toBlock: 'latest' }),
    balance: await client.eth_getBalance(friend, 'latest'),
    nonce: await client.eth_getTransactionCount(account.address, 'latest'),
    code: (await client.eth_getCode(token, 'latest')) !== '0x',
    noCode: await client.eth_getCode(friend, 'latest'),
    slot: await client.eth_getStorageAt(friend, `0x${'00'.repeat(32)}`, 'latest'),
    nothing: [
      await client.eth_getTransactionReceipt(`0x${'77'.repeat(32)}`),
      await client.eth_getTransactionByHash(`0x${'77'.repeat(32)}`),
      await client.eth_getBlockByHash(`0x${'77'.repeat(32)}`, false),
      await client.eth_getBlockByNumber('0xffff', false),
    ],
    feeHistory: await client.eth_feeHistory('0x2', 'latest', [50]),
    tokens: BigInt(await client.eth_call({ to: token, data: encode('balanceOf', [account.address]) })),
    errorCustom: await failure(client.eth_call({ to: reverts, data: encode('custom', unauthorized) })),
    errorReason: await failure(client.eth_call({ to: reverts, data: encode('reason', [0n]) })),
    errorPanic: await failure(client.eth_call({ to: reverts, data: encode('asserts', [0n]) })),
    errorEstimate: await failure(
      client.eth_estimateGas({ from: account.address, to: reverts, data: encode('custom', unauthorized) }),
    ),
    errorMethod: await failure(client.request({ method: 'eth_foo', params: [] } as never)),
    errorParams: await failure(client.eth_getBalance('0x12', 'latest')),
    errorKnown: await failure(sendAgain(client.eth_sendRawTransaction, await client.eth_getRawTransactionByHash(sent))),
    errorFunds: await failure(
      client.eth_sendRawTransaction(
        await account.signTransaction({
          type: 'eip1559',
          chainId: chain.id,
          nonce: Number(await client.eth_getTransactionCount(account.address, 'latest')),
          gas: 21_000n,
          to: friend,
          value: 10n ** 30n,
          maxFeePerGas: 10n ** 10n,
        }),
      ),
    ),
  }
  client.close()
  return steps
}

const sendAgain = (send: (raw: Hex) => Promise<unknown>, raw: Hex | null): Promise<unknown> => send(raw ?? '0x')

const byViem: Journey = async ({ url, privateKey, token, reverts }) => {
  const account = privateKeyToAccount(privateKey)
  const client = createPublicClient({ chain, transport: keyrail({ url }), pollingInterval: 10 })
  const wallet = createWalletClient({ chain, transport: keyrail({ url }), account })
  const failure = async (functionName: string, args: readonly unknown[]): Promise<unknown> => {
    const error = await caught(client.readContract({ abi: revertsAbi, address: reverts, functionName, args } as never))
    const found = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
    const { data, reason } = (found ?? {}) as ContractFunctionRevertedError
    return { name: data?.errorName, args: data?.args, reason }
  }
  const sent = await wallet.sendTransaction({ to: friend, value: 5n })
  const receipt = await client.waitForTransactionReceipt({ hash: sent })
  const moved = await wallet.writeContract({
    abi: tokenAbi,
    address: token,
    functionName: 'transfer',
    args: [friend, 3n],
  })
  const { blockNumber } = await client.waitForTransactionReceipt({ hash: moved })
  const events = { abi: tokenAbi, address: token, eventName: 'Transfer', fromBlock: blockNumber } as const
  return {
    chainId: await client.getChainId(),
    block: await client.getBlock(),
    fullBlock: await client.getBlock({ includeTransactions: true }),
    transaction: await client.getTransaction({ hash: sent }),
    receipt,
    balance: await client.getBalance({ address: friend }),
    tokens: await client.readContract({
      abi: tokenAbi,
      address: token,
      functionName: 'balanceOf',
      args: [account.address],
    }),
    events: await client.getContractEvents(events),
    noEvents: await client.getContractEvents({ ...events, args: { to: account.address } }),
    fees: await client.estimateFeesPerGas(),
    errorCustom: await failure('custom', unauthorized),
    errorReason: await failure('reason', [0n]),
    errorPanic: await failure('asserts', [0n]),
    errorBare: await failure('bare', []),
  }
}

const byEthers: Journey = async ({ url, privateKey, token, reverts }) => {
  const provider = new EthersProvider({ url })
  provider.pollingInterval = 10
  const wallet = new Wallet(privateKey, provider)
  const tokens = new Contract(token, tokenAbi, wallet)
  const failing = new Contract(reverts, revertsAbi, provider)
  const failure = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const error = (await caught(failing.getFunction(name)(...args))) as Error
    if (!isError(error, 'CALL_EXCEPTION')) return error
    return {
      name: error.revert?.name,
      args: error.revert === null ? undefined : [...(error.revert?.args ?? [])],
      reason: error.reason,
    }
  }
  const sent = await wallet.sendTransaction({ to: friend, value: 5n })
  const receipt = (await sent.wait(1))!
  const moved = (await tokens.getFunction('transfer')(friend, 3n)) as Awaited<ReturnType<Wallet['sendTransaction']>>
  const movedReceipt = (await moved.wait(1))!
  const steps = {
    chainId: (await provider.getNetwork()).chainId,
    block: (await provider.getBlock('latest'))?.toJSON(),
    transaction: (await provider.getTransaction(sent.hash))?.toJSON(),
    receipt: receipt.toJSON(),
    movedReceipt: movedReceipt.toJSON(),
    balance: await provider.getBalance(friend),
    tokens: (await tokens.getFunction('balanceOf')(wallet.address)) as unknown,
    events: (await tokens.queryFilter('Transfer', movedReceipt.blockNumber)).map((event) => ({
      name: 'fragment' in event ? event.fragment.name : undefined,
      args: 'args' in event ? [...event.args] : undefined,
      index: event.index,
    })),
    errorCustom: await failure('custom', unauthorized),
    errorReason: await failure('reason', [0n]),
    errorPanic: await failure('asserts', [0n]),
    errorBare: await failure('bare', []),
  }
  provider.destroy()
  return steps
}

const byWeb3: Journey = async ({ url, privateKey, token, reverts }) => {
  const provider = new Web3Provider({ url })
  const web3 = new Web3(provider)
  web3.eth.transactionPollingInterval = 10
  const { address: from } = web3.eth.accounts.wallet.add(privateKey)[0]!
  const tokens = new web3.eth.Contract(tokenAbi, token)
  const failing = new web3.eth.Contract(revertsAbi, reverts)
  const failure = async (call: () => Promise<unknown>): Promise<unknown> => {
    const error = (await caught(call())) as { cause?: { errorName?: string; errorArgs?: object; message?: string } }
    return { name: error.cause?.errorName, args: error.cause?.errorArgs }
  }
  const receipt = await web3.eth.sendTransaction({ from, to: friend, value: 5n })
  const moved = await tokens.methods['transfer']!(friend, 3n).send({ from })
  const steps = {
    chainId: await web3.eth.getChainId(),
    block: await web3.eth.getBlock('latest'),
    transaction: await web3.eth.getTransaction(receipt.transactionHash),
    receipt,
    moved: { ...moved, events: Object.keys(moved.events ?? {}) },
    balance: await web3.eth.getBalance(friend),
    tokens: await tokens.methods['balanceOf']!(from).call(),
    events: (await tokens.getPastEvents('Transfer', { fromBlock: moved.blockNumber })).map((event) =>
      typeof event === 'string' ? event : { event: event.event, values: event.returnValues },
    ),
    errorCustom: await failure(() => failing.methods['custom']!(...unauthorized).call()),
    errorPanic: await failure(() => failing.methods['asserts']!(0n).call()),
  }
  provider.disconnect()
  return steps
}

/** The journeys by library. */
export const journeys: Readonly<Record<string, Journey>> = {
  fetch: byFetch,
  viem: byViem,
  ethers: byEthers,
  web3: byWeb3,
}
