const { KeyrailProvider } = require('@keyrail/web3')
const { Web3 } = require('web3')

async function main(url) {
  const provider = new KeyrailProvider({ url })
  const number = await new Web3(provider).eth.getBlockNumber()
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
  const { result } = await provider.request(call)
  provider.disconnect()

  console.log(JSON.stringify({ number: `0x${number.toString(16)}`, hash: result.hash }))
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
