import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { BaseError, formatUnits } from 'viem'
import { useBlockNumber, useConnect, useConnection, useConnectors, useReadContracts } from 'wagmi'
import { owner, token } from './token.ts'

/** Explains a failure to a visitor. The failure of the transport is attached to an error of viem. */
function explain(error: Error): string {
  if (!(error instanceof BaseError)) return 'Something went wrong. Reload the page.'
  const found = error.walk((one) => isKeyrailError(Object(one).failure)) as { failure?: KeyrailError } | null
  switch (found?.failure?.kind) {
    case 'auth':
      return 'The key of this page is wrong.'
    case 'network':
    case 'timeout':
      return 'The network cannot be reached. Try again later.'
    default:
      return error.shortMessage
  }
}

export function App() {
  const { address } = useConnection()
  const { mutate: connect } = useConnect()
  const [connector] = useConnectors()
  const { data: block } = useBlockNumber({ watch: true })
  const { data, error } = useReadContracts({
    allowFailure: false,
    contracts: [
      { ...token, functionName: 'name' },
      { ...token, functionName: 'symbol' },
      { ...token, functionName: 'decimals' },
      { ...token, functionName: 'balanceOf', args: [address ?? owner] },
    ],
  })

  return (
    <main>
      <h1>{data ? data[0] : 'Token'}</h1>
      <p>Block {block === undefined ? '…' : String(block)}</p>
      {data && (
        <p>
          {address ? 'You own' : 'The owner has'} {formatUnits(data[3], data[2])} {data[1]}
        </p>
      )}
      {error && <p role="alert">{explain(error)}</p>}
      {!address && connector && <button onClick={() => connect({ connector })}>Connect a wallet</button>}
    </main>
  )
}
