const { keyrail } = require('@keyrail/viem')
const { createPublicClient } = require('viem')

async function main(url) {
  const client = createPublicClient({ transport: keyrail({ url }) })
  const number = await client.getBlockNumber()
  const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })

  console.log(JSON.stringify({ number: `0x${number.toString(16)}`, hash: block.hash }))
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
