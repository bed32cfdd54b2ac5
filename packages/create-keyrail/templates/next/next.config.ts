import type { NextConfig } from 'next'

const config: NextConfig = {
  // A lock file in a folder above is not that of this project.
  turbopack: { root: import.meta.dirname },
}

export default config
