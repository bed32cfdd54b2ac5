/** The folders of the latest-block examples: one for fetch and one for each adapter. */
export const latestBlockExamples: readonly string[] = ['ethers', 'fetch', 'viem', 'web3'].map(
  (library) => `latest-block-${library}`,
)
