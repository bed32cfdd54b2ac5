/** Loads a peer from beside this file. By a name that is not written out, because most of the time none is installed. */
export const load = (name) => import(name)
