/** The programs in `latest-block`: one for fetch and one for each adapter. */
export const latestBlockExamples: readonly string[] = ['ethers.ts', 'fetch.ts', 'viem.ts', 'web3.ts']
