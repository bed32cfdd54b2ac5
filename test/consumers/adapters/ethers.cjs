const { KeyrailProvider } = require('@keyrail/ethers')
const { toQuantity } = require('ethers')

async function main(url) {
  const provider = new KeyrailProvider({ url })
  const number = await provider.getBlockNumber()
  const { hash } = await provider.send('eth_getBlockByNumber', ['latest', false])
  provider.destroy()

  console.log(JSON.stringify({ number: toQuantity(number), hash }))
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
