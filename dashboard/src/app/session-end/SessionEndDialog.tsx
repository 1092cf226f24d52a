/** The dialog over the page of a person whose session has ended: they sign in again and continue where they were. */
import { LogIn } from "lucide-react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useLocation } from "react-router";
import { type SignedIn, ssoAddress } from "../../features/session/session";
import { PasswordForm } from "../../pages/sign-in/PasswordForm";
import { ButtonLink } from "../../ui/Button";
import "./session-end.css";

export function SessionEndDialog({ session }: { session: SignedIn }) {
  const { password, sso } = session.methods;
  const { pathname, search } = useLocation();
  return (
    <ModalOverlay className="overlay session-end" isOpen isKeyboardDismissDisabled>
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog">
          <Heading slot="title">Your session ended. Sign in again</Heading>
          <p className="muted">
            The page stays as it is, and continues when you have signed in, here or in another tab.
          </p>
          {password && <PasswordForm login={session.login ?? ""} />}
          {sso && (
            <ButtonLink href={ssoAddress(pathname + search)} target="_blank" rel="noopener">
              <LogIn size={16} aria-hidden /> Continue with {sso.name} in a new tab
            </ButtonLink>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
