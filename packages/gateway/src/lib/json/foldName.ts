/** Folds a member name as Go's JSON decoder compares names: `To` equals `to`, and even `ſ` equals `s`. */
export const foldName = (name: string): string => name.toUpperCase().toLowerCase()
