/** Buttons, and links that look like buttons. */

import type { ReactNode } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Link as AriaLink,
  type LinkProps,
  Tooltip,
  TooltipTrigger,
} from "react-aria-components";

interface Look {
  kind?: "primary" | "plain" | "quiet" | "danger";
  size?: "normal" | "small";
}

export type ButtonProps = Omit<AriaButtonProps, "className"> & Look;

export function Button({ kind = "plain", size = "normal", ...props }: ButtonProps) {
  return <AriaButton {...props} className="button" data-kind={kind} data-size={size} />;
}

export function ButtonLink({
  kind = "plain",
  size = "normal",
  ...props
}: Omit<LinkProps, "className"> & Look) {
  return <AriaLink {...props} className="button" data-kind={kind} data-size={size} />;
}

/** A button with an icon only; `label` is its accessible name and its tooltip. */
export function IconButton({
  label,
  children,
  ...props
}: { label: string; children: ReactNode } & Omit<AriaButtonProps, "className" | "children">) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...props} aria-label={label} className="icon-button">
        {children}
      </AriaButton>
      <Tooltip className="tooltip">{label}</Tooltip>
    </TooltipTrigger>
  );
}
