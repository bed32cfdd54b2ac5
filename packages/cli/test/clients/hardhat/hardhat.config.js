import hardhatIgnitionViem from '@nomicfoundation/hardhat-ignition-viem'
import hardhatViem from '@nomicfoundation/hardhat-viem'
import { defineConfig } from 'hardhat/config'

const { KEYRAIL_URL, PRIVATE_KEY } = process.env

export default defineConfig({
  plugins: [hardhatViem, hardhatIgnitionViem],
  networks: {
    keyrail: { type: 'http', url: KEYRAIL_URL, accounts: [PRIVATE_KEY] },
  },
  paths: { ignition: process.env.FOLDER },
})
