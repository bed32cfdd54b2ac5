'use client'

import { useEffect, useState } from 'react'
import { BaseError, createPublicClient, erc20Abi, formatUnits, http } from 'viem'

/** The token that `keyrail dev` deploys on every network, and its owner. */
const token = { address: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512', abi: erc20Abi } as const
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

// The route of this app, which adds the key. The page does not contain it.
const client = createPublicClient({ transport: http('/rpc') })

async function readToken(): Promise<string> {
  const [symbol, decimals, balance] = await Promise.all([
    client.readContract({ ...token, functionName: 'symbol' }),
    client.readContract({ ...token, functionName: 'decimals' }),
    client.readContract({ ...token, functionName: 'balanceOf', args: [owner] }),
  ])
  return `The owner has ${formatUnits(balance, decimals)} ${symbol}`
}

/** What went wrong. The details of an error of viem are what the route responded, which never contains the key. */
function explain(error: unknown): string {
  if (!(error instanceof BaseError)) return 'Something went wrong. See the console.'
  return error.details || error.shortMessage
}

export function Token() {
  const [text, setText] = useState('…')
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    readToken().then(setText, (error: unknown) => {
      console.error(error)
      setProblem(explain(error))
    })
  }, [])
  return problem === undefined ? <p>{text}</p> : <p role="alert">{problem}</p>
}
