'use client'

import { useEffect, useState } from 'react'
import { createPublicClient, erc20Abi, formatUnits, http } from 'viem'

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

export function Token() {
  const [text, setText] = useState('…')
  useEffect(() => {
    readToken().then(setText, (error: unknown) => {
      console.error(error)
      setText('This did not work. Try again later.')
    })
  }, [])
  return <p>{text}</p>
}
