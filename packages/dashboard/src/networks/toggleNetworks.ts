/** Adds networks to those that are chosen, or removes them if all of them are chosen. */
export const toggleNetworks = (chosen: readonly string[], networks: readonly string[]): readonly string[] =>
  networks.every((one) => chosen.includes(one))
    ? chosen.filter((one) => !networks.includes(one))
    : [...new Set([...chosen, ...networks])]
