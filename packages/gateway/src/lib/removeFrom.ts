/** Removes an item from a list. @returns Whether the list had it. */
export const removeFrom = <Item>(list: Item[], item: Item): boolean => {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}
