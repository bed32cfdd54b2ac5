/** The networks by the names that are shown. */
export const networkTitles = { testnet: 'Testnet', mainnet: 'Mainnet' } as const
