package wire

// Management-datagram headers: the common header, what each class puts behind
// it, and the attributes. A record of the subnet administrator that wraps an
// attribute of the subnet manager is two headers: the record's key, then the
// attribute.
const (
	HdrMAD     HeaderID = firstMAD + iota
	HdrMADData          // bytes that no attribute describes
	HdrRMPP
	HdrRMPPError // what may follow an RMPP STOP or ABORT
	HdrClassPortInfo
	HdrNotice
	HdrNoticeIssuer
	HdrInformInfo
	HdrTrapGID
	HdrTrapSwitch
	HdrTrapPort
	HdrTrapCapability
	HdrTrapImageGUID
	HdrTrapMKey
	HdrTrapKey
	HdrTrapSwitchPKey
	HdrTrapData

	HdrSMPLID
	HdrSMPDirected
	HdrSMPPaths
	HdrNodeDescription
	HdrNodeInfo
	HdrSwitchInfo
	HdrGUIDInfo
	HdrPortInfo
	HdrPKeyTable
	HdrSLtoVLTable
	HdrVLArbitrationTable
	HdrLinearForwardingTable
	HdrRandomForwardingTable
	HdrMulticastForwardingTable
	HdrLinkSpeedWidthPairs
	HdrSMInfo
	HdrVendorDiag
	HdrLedInfo

	HdrSA
	HdrSALIDKey
	HdrSAPortKey
	HdrSASLtoVLKey
	HdrSABlockKey
	HdrSAMulticastKey
	HdrSAVLArbitrationKey
	HdrSAGUIDKey
	HdrSAPKeyKey
	HdrInformInfoRecord
	HdrLinkRecord
	HdrServiceRecord
	HdrPathRecord
	HdrMCMemberRecord
	HdrTraceRecord
	HdrMultiPathRecord
	HdrServiceAssociationRecord

	HdrPortSamplesControl
	HdrPortSamplesResult
	HdrPortCounters
	HdrPortRcvErrorDetails
	HdrPortXmitDiscardDetails
	HdrPortOpRcvCounters
	HdrPortFlowCtlCounters
	HdrPortVLOpPackets
	HdrPortVLOpData
	HdrPortVLXmitFlowCtlUpdateErrors
	HdrPortVLXmitWaitCounters
	HdrPortCountersExt
	HdrPortSamplesResultExt
	HdrSwPortVLCongestion
	HdrPortXmitDataSL
	HdrPortRcvDataSL

	HdrCMReq
	HdrCMMra
	HdrCMRej
	HdrCMRep
	HdrCMRtu
	HdrCMDreq
	HdrCMDrep
	HdrCMSidrReq
	HdrCMSidrRep
	HdrCMLap
	HdrCMApr
	HdrCMIPPrivate

	HdrCC
	HdrCongestionInfo
	HdrCongestionKeyInfo
	HdrCongestionLogSwitch
	HdrCongestionLogCA
	HdrSwitchCongestionSetting
	HdrSwitchPortCongestionSetting
	HdrCACongestionSetting
	HdrCongestionControlTable
	HdrTimeStamp

	HdrBM
	HdrSNMP
	HdrVendorOUI
	HdrIOUnitInfo
	HdrIOControllerProfile
	HdrServiceEntries
	HdrDiagnosticTimeout
	HdrDiagCode
)

// madSpecs holds the descriptions of the management-datagram headers, indexed
// by id-firstMAD.
var madSpecs = [...]*Spec{
	HdrMAD - firstMAD:                           &madSpec,
	HdrMADData - firstMAD:                       &madDataSpec,
	HdrRMPP - firstMAD:                          &rmppSpec,
	HdrRMPPError - firstMAD:                     &rmppErrorSpec,
	HdrClassPortInfo - firstMAD:                 &classPortInfoSpec,
	HdrNotice - firstMAD:                        &noticeSpec,
	HdrNoticeIssuer - firstMAD:                  &noticeIssuerSpec,
	HdrInformInfo - firstMAD:                    &informInfoSpec,
	HdrTrapGID - firstMAD:                       &trapGIDSpec,
	HdrTrapSwitch - firstMAD:                    &trapSwitchSpec,
	HdrTrapPort - firstMAD:                      &trapPortSpec,
	HdrTrapCapability - firstMAD:                &trapCapabilitySpec,
	HdrTrapImageGUID - firstMAD:                 &trapImageGUIDSpec,
	HdrTrapMKey - firstMAD:                      &trapMKeySpec,
	HdrTrapKey - firstMAD:                       &trapKeySpec,
	HdrTrapSwitchPKey - firstMAD:                &trapSwitchPKeySpec,
	HdrTrapData - firstMAD:                      &trapDataSpec,
	HdrSMPLID - firstMAD:                        &smpLIDSpec,
	HdrSMPDirected - firstMAD:                   &smpDirectedSpec,
	HdrSMPPaths - firstMAD:                      &smpPathsSpec,
	HdrNodeDescription - firstMAD:               &nodeDescriptionSpec,
	HdrNodeInfo - firstMAD:                      &nodeInfoSpec,
	HdrSwitchInfo - firstMAD:                    &switchInfoSpec,
	HdrGUIDInfo - firstMAD:                      &guidInfoSpec,
	HdrPortInfo - firstMAD:                      &portInfoSpec,
	HdrPKeyTable - firstMAD:                     &pKeyTableSpec,
	HdrSLtoVLTable - firstMAD:                   &slToVLTableSpec,
	HdrVLArbitrationTable - firstMAD:            &vlArbitrationTableSpec,
	HdrLinearForwardingTable - firstMAD:         &linearForwardingTableSpec,
	HdrRandomForwardingTable - firstMAD:         &randomForwardingTableSpec,
	HdrMulticastForwardingTable - firstMAD:      &multicastForwardingTableSpec,
	HdrLinkSpeedWidthPairs - firstMAD:           &linkSpeedWidthPairsSpec,
	HdrSMInfo - firstMAD:                        &smInfoSpec,
	HdrVendorDiag - firstMAD:                    &vendorDiagSpec,
	HdrLedInfo - firstMAD:                       &ledInfoSpec,
	HdrSA - firstMAD:                            &saSpec,
	HdrSALIDKey - firstMAD:                      &saLIDKeySpec,
	HdrSAPortKey - firstMAD:                     &saPortKeySpec,
	HdrSASLtoVLKey - firstMAD:                   &saSLtoVLKeySpec,
	HdrSABlockKey - firstMAD:                    &saBlockKeySpec,
	HdrSAMulticastKey - firstMAD:                &saMulticastKeySpec,
	HdrSAVLArbitrationKey - firstMAD:            &saVLArbitrationKeySpec,
	HdrSAGUIDKey - firstMAD:                     &saGUIDKeySpec,
	HdrSAPKeyKey - firstMAD:                     &saPKeyKeySpec,
	HdrInformInfoRecord - firstMAD:              &informInfoRecordSpec,
	HdrLinkRecord - firstMAD:                    &linkRecordSpec,
	HdrServiceRecord - firstMAD:                 &serviceRecordSpec,
	HdrPathRecord - firstMAD:                    &pathRecordSpec,
	HdrMCMemberRecord - firstMAD:                &mcMemberRecordSpec,
	HdrTraceRecord - firstMAD:                   &traceRecordSpec,
	HdrMultiPathRecord - firstMAD:               &multiPathRecordSpec,
	HdrServiceAssociationRecord - firstMAD:      &serviceAssociationRecordSpec,
	HdrPortSamplesControl - firstMAD:            &portSamplesControlSpec,
	HdrPortSamplesResult - firstMAD:             &portSamplesResultSpec,
	HdrPortCounters - firstMAD:                  &portCountersSpec,
	HdrPortRcvErrorDetails - firstMAD:           &portRcvErrorDetailsSpec,
	HdrPortXmitDiscardDetails - firstMAD:        &portXmitDiscardDetailsSpec,
	HdrPortOpRcvCounters - firstMAD:             &portOpRcvCountersSpec,
	HdrPortFlowCtlCounters - firstMAD:           &portFlowCtlCountersSpec,
	HdrPortVLOpPackets - firstMAD:               &portVLOpPacketsSpec,
	HdrPortVLOpData - firstMAD:                  &portVLOpDataSpec,
	HdrPortVLXmitFlowCtlUpdateErrors - firstMAD: &portVLXmitFlowCtlUpdateErrorsSpec,
	HdrPortVLXmitWaitCounters - firstMAD:        &portVLXmitWaitCountersSpec,
	HdrPortCountersExt - firstMAD:               &portCountersExtSpec,
	HdrPortSamplesResultExt - firstMAD:          &portSamplesResultExtSpec,
	HdrSwPortVLCongestion - firstMAD:            &swPortVLCongestionSpec,
	HdrPortXmitDataSL - firstMAD:                &portXmitDataSLSpec,
	HdrPortRcvDataSL - firstMAD:                 &portRcvDataSLSpec,
	HdrCMReq - firstMAD:                         &cmReqSpec,
	HdrCMMra - firstMAD:                         &cmMraSpec,
	HdrCMRej - firstMAD:                         &cmRejSpec,
	HdrCMRep - firstMAD:                         &cmRepSpec,
	HdrCMRtu - firstMAD:                         &cmRtuSpec,
	HdrCMDreq - firstMAD:                        &cmDreqSpec,
	HdrCMDrep - firstMAD:                        &cmDrepSpec,
	HdrCMSidrReq - firstMAD:                     &cmSidrReqSpec,
	HdrCMSidrRep - firstMAD:                     &cmSidrRepSpec,
	HdrCMLap - firstMAD:                         &cmLapSpec,
	HdrCMApr - firstMAD:                         &cmAprSpec,
	HdrCMIPPrivate - firstMAD:                   &cmIPPrivateSpec,
	HdrCC - firstMAD:                            &ccSpec,
	HdrCongestionInfo - firstMAD:                &congestionInfoSpec,
	HdrCongestionKeyInfo - firstMAD:             &congestionKeyInfoSpec,
	HdrCongestionLogSwitch - firstMAD:           &congestionLogSwitchSpec,
	HdrCongestionLogCA - firstMAD:               &congestionLogCASpec,
	HdrSwitchCongestionSetting - firstMAD:       &switchCongestionSettingSpec,
	HdrSwitchPortCongestionSetting - firstMAD:   &switchPortCongestionSettingSpec,
	HdrCACongestionSetting - firstMAD:           &caCongestionSettingSpec,
	HdrCongestionControlTable - firstMAD:        &congestionControlTableSpec,
	HdrTimeStamp - firstMAD:                     &timeStampSpec,
	HdrBM - firstMAD:                            &bmSpec,
	HdrSNMP - firstMAD:                          &snmpSpec,
	HdrVendorOUI - firstMAD:                     &vendorOUISpec,
	HdrIOUnitInfo - firstMAD:                    &ioUnitInfoSpec,
	HdrIOControllerProfile - firstMAD:           &ioControllerProfileSpec,
	HdrServiceEntries - firstMAD:                &serviceEntriesSpec,
	HdrDiagnosticTimeout - firstMAD:             &diagnosticTimeoutSpec,
	HdrDiagCode - firstMAD:                      &diagCodeSpec,
}
