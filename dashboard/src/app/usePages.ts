/** The pages that the person can use. */
import { useIsAdministrator } from "../features/session/ownAccount";
import { PAGES, type PageRow } from "./pages";

export function usePages(): PageRow[] {
  const isAdministrator = useIsAdministrator();
  return PAGES.filter((page) => isAdministrator || !page.isForAdministrators);
}
