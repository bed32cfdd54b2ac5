import hardhatIgnitionViem from '@nomicfoundation/hardhat-ignition-viem'
import hardhatViem from '@nomicfoundation/hardhat-viem'
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  plugins: [hardhatViem, hardhatIgnitionViem],
  paths: { ignition: process.env.FOLDER },
  networks: { keyrail: { type: 'http', url: process.env.URL, accounts: [process.env.PRIVATE_KEY] } },
})
