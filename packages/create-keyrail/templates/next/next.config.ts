import { networkInterfaces } from 'node:os'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // In development, Next.js runs pages on localhost only. This adds the other addresses of the machine, such as 127.0.0.1.
  allowedDevOrigins: Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)),
  // A lock file in a folder above is not that of this project.
  turbopack: { root: import.meta.dirname },
}

export default config
